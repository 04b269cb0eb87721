package roselle.scheduler;

/** Who waits, who runs, what each key was served, and what was done in all: the records that planning reads and changes. */
record SchedulerState(ServiceCounters counters, PendingQueue queue, RunningSet running, Totals totals) {}
