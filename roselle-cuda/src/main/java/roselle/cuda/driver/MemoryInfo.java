package roselle.cuda.driver;

/** A device's memory in bytes. */
public record MemoryInfo(long free, long total) {}
