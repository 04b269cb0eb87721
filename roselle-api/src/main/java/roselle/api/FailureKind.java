package roselle.api;

/** Whose turn it is to mend what failed. */
public enum FailureKind {
    /** The request's. */
    INVALID_REQUEST,
    /** Nobody's: there was not enough room; trying later may help. */
    CAPACITY,
    /** Nobody's: the deadline passed first. */
    DEADLINE,
    /** The engine's or the device's. */
    INTERNAL
}
