package roselle.api;

import java.nio.file.Path;
import java.time.Instant;

/**
 * An adapter that requests may name.
 *
 * @param name what requests call it
 * @param path its folder or file
 * @param digest the SHA-256 of its files, in hexadecimal: what it is, whatever its name
 * @param rank the largest rank of its matrices
 * @param bytes what its matrices take in memory
 * @param loaded when it was loaded first
 */
public record LoadedAdapter(String name, Path path, String digest, int rank, long bytes, Instant loaded) {}
