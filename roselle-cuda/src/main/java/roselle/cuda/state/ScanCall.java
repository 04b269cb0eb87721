package roselle.cuda.state;

import roselle.backend.memory.Rows;
import roselle.backend.operation.SelectiveScan;

/** One call of {@link roselle.backend.operation.Operations#selectiveScan}, without the cache. */
public record ScanCall(Rows x, Rows times, Rows b, Rows c, SelectiveScan scan, Rows output) {}
