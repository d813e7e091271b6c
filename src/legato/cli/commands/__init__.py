"""The commands, a module each; `legato.cli.app` knows them by name and loads one when it is asked for."""
