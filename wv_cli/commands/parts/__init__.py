"""The parts that jobs are made of (wv_cli.commands.part.Part): the options of one subject each."""
