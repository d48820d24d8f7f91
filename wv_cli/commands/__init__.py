"""The jobs of the commands: what each does from options to files, made of parts."""
