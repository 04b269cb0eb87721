package roselle.hub;

import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.stream.Collectors;
import roselle.hub.file.GgufChoice;

/**
 * One commit of a repository in the cache.
 *
 * @param repository {@code org/name}
 * @param commit its 40 digits
 * @param revisions the branches and tags that point to it
 * @param snapshot its folder
 * @param files in it
 * @param modified when its newest file came
 */
public record CachedRevision(
        String repository, String commit, List<String> revisions, Path snapshot, List<File> files, Instant modified) {
    /**
     * A file of it.
     *
     * @param path in the repository
     * @param size in bytes
     * @param blob that it leads to; the file itself where the cache has no links
     */
    public record File(String path, long size, Path blob) {}

    public CachedRevision {
        revisions = List.copyOf(revisions);
        files = List.copyOf(files);
    }

    /** Bytes of its files, each blob once. */
    public long bytes() {
        return files.stream().map(File::blob).distinct().count() == files.size()
                ? files.stream().mapToLong(File::size).sum()
                : files.stream().collect(Collectors.toMap(File::blob, File::size, (one, same) -> one)).values().stream()
                        .mapToLong(Long::longValue)
                        .sum();
    }

    /** How its weights are stored: {@code GGUF}, {@code safetensors}, or {@code other}. */
    public String format() {
        if (files.stream().anyMatch(file -> file.path().endsWith(".safetensors"))) {
            return "safetensors";
        }
        return files.stream().anyMatch(file -> GgufChoice.isModel(file.path())) ? "GGUF" : "other";
    }
}
