package roselle.server.kserve;

import java.util.List;
import roselle.server.http.JsonFields;

/** Refuses tensors in memory that a client shares with the server. */
final class SharedMemory {
    private static final List<String> FIELDS =
            List.of("shared_memory_region", "shared_memory_byte_size", "shared_memory_offset");

    private SharedMemory() {}

    static void refuse(JsonFields parameters) {
        FIELDS.forEach(name -> parameters.requireDefault(name, "shared memory is not supported: send the data"));
    }
}
