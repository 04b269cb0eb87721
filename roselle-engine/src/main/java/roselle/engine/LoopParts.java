package roselle.engine;

import roselle.execution.Executor;
import roselle.scheduler.Scheduler;

/** What an engine's loop drives: who plans, what runs a step, how large the cache is to be, and where others read how it goes. */
record LoopParts(Scheduler scheduler, Executor executor, CacheResizer resizer, EngineProbe probe) {}
