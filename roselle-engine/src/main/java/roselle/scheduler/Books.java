package roselle.scheduler;

/** Who waits, who runs, and what each key was served: the records that planning reads and changes. */
record Books(ServiceCounters counters, PendingQueue queue, RunningSet running) {}
