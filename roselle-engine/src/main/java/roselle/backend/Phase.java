package roselle.backend;

/** A part of a start, and how long it took. */
public record Phase(String name, long nanos) {}
