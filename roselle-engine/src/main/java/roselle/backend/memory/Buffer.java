package roselle.backend.memory;

import roselle.tensor.DataType;

/** An array of numbers on a device; only the backend that allocated it can read it. */
public interface Buffer {
    DataType type();

    long elements();
}
