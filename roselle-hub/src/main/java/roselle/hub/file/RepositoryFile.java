package roselle.hub.file;

/**
 * A file as the hub lists it.
 *
 * @param path in the repository
 * @param size in bytes
 * @param checksum of its bytes
 */
public record RepositoryFile(String path, long size, Checksum checksum) {}
