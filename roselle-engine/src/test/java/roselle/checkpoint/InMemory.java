package roselle.checkpoint;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import roselle.api.CheckpointException;
import roselle.checkpoint.file.MappedFile;
import roselle.testing.OneSentence;

/** Reads whole files from an array, every value of them, as tests that try thousands of files need it. */
public final class InMemory {
    private InMemory() {}

    public static MappedFile file(byte[] bytes) {
        return new MappedFile(Path.of("hostile"), MemorySegment.ofArray(bytes));
    }

    /** Asks for every key as every type; each either answers or says that it is of another type. */
    public static void readAll(Metadata metadata) {
        for (String key : metadata.keys()) {
            List<Consumer<String>> getters = List.of(
                    metadata::string,
                    metadata::integer,
                    metadata::longInteger,
                    metadata::number,
                    k -> metadata.flag(k, false),
                    metadata::strings,
                    metadata::integers,
                    metadata::numbers,
                    metadata::flags,
                    k -> metadata.object(k).ifPresent(InMemory::readAll));
            getters.forEach(getter -> opensOrRefuses(() -> getter.accept(key)));
        }
    }

    /** Whether it worked; a {@code CheckpointException} of one line is the only way in which it may not. */
    public static boolean opensOrRefuses(Runnable opening) {
        try {
            opening.run();
            return true;
        } catch (CheckpointException refusal) {
            OneSentence.check(refusal);
            return false;
        }
    }
}
