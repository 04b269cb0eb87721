package roselle.hub.request;

import java.util.Optional;
import roselle.api.InvalidRequestException;
import roselle.hub.text.RepositoryPath;
import roselle.hub.text.SafeText;

/**
 * What a user calls a model on the hub: {@code hf:org/name[@revision][:file or quantization]}.
 *
 * @param repository {@code org/name}, or one of the few names without an organisation
 * @param revision a branch, a tag or a commit
 * @param selector a file's path in the repository, or a quantization such as {@code Q4_K_M}
 */
public record HubName(String repository, String revision, Optional<String> selector) {
    public static final String PREFIX = "hf:";
    public static final String DEFAULT_REVISION = "main";
    private static final int LONGEST = 96;
    private static final int LONGEST_REVISION = 255;

    public HubName {
        if (!isRepository(repository)) {
            throw new InvalidRequestException("'" + SafeText.of(repository)
                    + "' is no model's name: write hf:org/name[@revision][:file or quantization]");
        }
        if (!isRevision(revision)) {
            throw new InvalidRequestException(
                    "'" + SafeText.of(revision) + "' is no revision: write a branch, a tag or a commit after the @");
        }
        if (selector.isPresent() && !RepositoryPath.isSafe(selector.get())) {
            throw new InvalidRequestException(
                    "'" + SafeText.of(selector.get())
                            + "' is neither a file in a repository nor a quantization: write one such as Q4_K_M after the colon");
        }
    }

    /** Whether a text is meant as such a name. */
    public static boolean isMeantBy(String text) {
        return text.startsWith(PREFIX);
    }

    /** Reads a name, with or without the prefix. */
    public static HubName parse(String text) {
        String name = isMeantBy(text) ? text.substring(PREFIX.length()) : text;
        int colon = name.indexOf(':');
        Optional<String> selector = colon < 0 ? Optional.empty() : Optional.of(name.substring(colon + 1));
        String model = colon < 0 ? name : name.substring(0, colon);
        int at = model.indexOf('@');
        String revision = at < 0 ? DEFAULT_REVISION : model.substring(at + 1);
        return new HubName(at < 0 ? model : model.substring(0, at), revision, selector);
    }

    /** Whether a text has the form {@code org/name}, perhaps with a revision and a selector. */
    public static boolean isWellFormed(String text) {
        try {
            return parse(text).repository().indexOf('/') > 0;
        } catch (InvalidRequestException _) {
            return false;
        }
    }

    /** The repository without its organisation. */
    public String title() {
        return repository.substring(repository.indexOf('/') + 1);
    }

    @Override
    public String toString() {
        String version = revision.equals(DEFAULT_REVISION) ? "" : "@" + revision;
        return PREFIX + repository + version + selector.map(file -> ":" + file).orElse("");
    }

    private static boolean isRepository(String name) {
        int slash = name.indexOf('/');
        boolean isPlain =
                slash < 0 ? isPart(name) : isPart(name.substring(0, slash)) && isPart(name.substring(slash + 1));
        return isPlain && !name.contains("--") && !name.contains("..") && !name.endsWith(".git");
    }

    private static boolean isPart(String part) {
        return !part.isEmpty()
                && part.length() <= LONGEST
                && ".-".indexOf(part.charAt(0)) < 0
                && ".-".indexOf(part.charAt(part.length() - 1)) < 0
                && part.chars().allMatch(HubName::isNameCharacter);
    }

    private static boolean isNameCharacter(int character) {
        return (character < 128 && Character.isLetterOrDigit(character)) || ".-_".indexOf(character) >= 0;
    }

    /** What git allows, and what is one file below {@code refs} on any system. */
    private static boolean isRevision(String revision) {
        return revision.length() <= LONGEST_REVISION
                && RepositoryPath.isSafe(revision)
                && !revision.contains("..")
                && !revision.startsWith("-")
                && revision.chars().noneMatch(character -> character <= ' ' || "~^:?*[".indexOf(character) >= 0);
    }
}
