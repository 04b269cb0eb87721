package roselle.hub;

import java.util.List;
import roselle.hub.file.Listing;
import roselle.hub.request.HubName;

/**
 * What pulling a model will do.
 *
 * @param name what was asked for
 * @param commit that its revision is now
 * @param files the model needs
 * @param missing those of them that are not in the cache
 * @param source where they come from
 */
@SuppressWarnings("exports") // the source is for the hub itself, which takes the plan back
public record PullPlan(HubName name, String commit, List<File> files, List<File> missing, Source source) {
    /** A file by its path, and its size in bytes. */
    public record File(String path, long size) {}

    /**
     * What the hub said of the files.
     *
     * @param listing of the commit
     * @param opened the path in the snapshot that is opened as the model; empty for the snapshot itself
     */
    record Source(Listing listing, String opened) {}

    public PullPlan {
        files = List.copyOf(files);
        missing = List.copyOf(missing);
    }

    /** Bytes of all files. */
    public long bytes() {
        return files.stream().mapToLong(File::size).sum();
    }

    /** Bytes that are not here yet; some of them may be, from a download that was broken off. */
    public long missingBytes() {
        return missing.stream().mapToLong(File::size).sum();
    }
}
