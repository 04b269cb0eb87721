package roselle.hub.file;

import java.util.Collections;
import java.util.Optional;
import java.util.SequencedMap;
import roselle.hub.request.HubException;
import roselle.hub.text.SafeText;

/**
 * The files of a repository at one commit that a model may need; others are left out.
 *
 * @param repository {@code org/name}
 * @param commit its 40 digits
 * @param files by path
 */
public record Listing(String repository, String commit, SequencedMap<String, RepositoryFile> files) {
    public Listing {
        files = Collections.unmodifiableSequencedMap(files);
    }

    public RepositoryFile file(String path) {
        return Optional.ofNullable(files.get(path))
                .orElseThrow(() -> new HubException(
                        HubException.Kind.BAD_DATA,
                        repository + " names the file " + SafeText.of(path) + " but does not list it"));
    }
}
