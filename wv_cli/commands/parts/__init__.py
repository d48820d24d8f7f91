"""The parts that jobs are made of (wv_cli.commands.job.Part): the options of one subject each."""
