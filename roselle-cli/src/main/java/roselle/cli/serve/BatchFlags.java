package roselle.cli.serve;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import roselle.api.InvalidRequestException;
import roselle.cli.report.ByteSize;
import roselle.cli.report.Heading;
import roselle.cli.report.NearNames;
import roselle.server.config.BatchFolder;

/** The options that say where the server keeps files and batches. */
@Heading("Batches")
final class BatchFlags {
    @Option(
            names = "--batch-folder",
            paramLabel = "FOLDER",
            description = "Keep files and batches here, and go on with those that are not finished; default: none.")
    private @Nullable Path folder;

    @Option(
            names = "--batch-space",
            paramLabel = "SIZE",
            converter = ByteSize.class,
            description = "Bytes of all files of batches together; default: 16G.")
    private long space = BatchFolder.DEFAULT_SPACE;

    @Option(
            names = "--batch-requests",
            paramLabel = "N",
            description = "Requests of batches that are answered at a time; default: 64.")
    private int requests = BatchFolder.DEFAULT_REQUESTS;

    BatchFolder options() {
        return new BatchFolder(Optional.ofNullable(folder).map(BatchFlags::existing), space, requests);
    }

    /** One that is there: a name that is spelt wrong would begin with no batches. */
    private static Path existing(Path folder) {
        Path found = NearNames.existing(folder);
        if (!Files.isDirectory(found)) {
            throw new InvalidRequestException("batch folder is " + found + ": it must be a folder");
        }
        return found;
    }
}
