"""Why a render came out as it did, for people and for machines; and what is redacted."""
