"""The parts that jobs are made of (wv_cli.jobs.job.Part): the options of one subject each."""
