"""Z.ai: further models, of which all think."""

ROUTES = ("zai/glm-4.6", "zai/glm-5")
