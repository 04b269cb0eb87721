package roselle.hub.http;

import java.io.IOException;
import java.io.InputStream;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
import java.util.function.Predicate;
import roselle.hub.file.Checksum;
import roselle.hub.file.RepositoryFile;
import roselle.hub.request.HubException;
import roselle.hub.text.RepositoryPath;
import roselle.hub.text.SafeText;
import roselle.json.JsonLimits;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/** The hub's answers, read token by token so that a listing of a million files takes no memory. */
final class HubJson {
    private static final long LARGEST_FILE = 1L << 44;
    private static final JsonFactory FACTORY =
            JsonLimits.DEFAULT.withStringCharacters(1 << 20).factory();

    private HubJson() {}

    /** The field {@code sha} of a repository's description; what follows it is not read. */
    static String commit(InputStream in, String subject) throws IOException {
        return parsed(in, subject, parser -> {
            requireToken(parser, JsonToken.START_OBJECT, subject);
            while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
                boolean isCommit = parser.currentName().equals("sha");
                parser.nextToken();
                if (isCommit) {
                    return gitName(text(parser), subject);
                }
                parser.skipChildren();
            }
            throw new HubException(HubException.Kind.BAD_DATA, subject + ": the hub's answer has no commit");
        });
    }

    private static String gitName(String text, String subject) {
        if (!Checksum.isGitName(text)) {
            throw new HubException(
                    HubException.Kind.BAD_DATA, subject + ": the hub calls its commit '" + SafeText.of(text) + "'");
        }
        return text;
    }

    /** The wanted files of one page of a listing. */
    static SequencedMap<String, RepositoryFile> files(InputStream in, String subject, Predicate<String> isWanted)
            throws IOException {
        return parsed(in, subject, parser -> {
            SequencedMap<String, RepositoryFile> files = new LinkedHashMap<>();
            requireToken(parser, JsonToken.START_ARRAY, subject);
            while (parser.nextToken() == JsonToken.START_OBJECT) {
                Entry entry = entry(parser);
                if (entry.isWanted(subject, isWanted)) {
                    files.put(entry.path, entry.file(subject));
                    HubApi.requireFewFiles(files.size(), subject);
                }
            }
            if (parser.currentToken() != JsonToken.END_ARRAY) {
                throw malformed(subject, "its listing does not end");
            }
            return files;
        });
    }

    private static Entry entry(JsonParser parser) {
        var entry = new Entry();
        while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
            String name = parser.currentName();
            parser.nextToken();
            switch (name) {
                case "type" -> entry.type = text(parser);
                case "path" -> entry.path = text(parser);
                case "oid" -> entry.gitName = text(parser);
                case "size" -> entry.size = number(parser);
                case "lfs" -> readLarge(parser, entry);
                default -> parser.skipChildren();
            }
        }
        return entry;
    }

    private static void readLarge(JsonParser parser, Entry entry) {
        if (parser.currentToken() != JsonToken.START_OBJECT) {
            parser.skipChildren();
            return;
        }
        while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
            String name = parser.currentName();
            parser.nextToken();
            switch (name) {
                case "oid" -> entry.sha256 = text(parser);
                case "size" -> entry.largeSize = number(parser);
                default -> parser.skipChildren();
            }
        }
    }

    private static String text(JsonParser parser) {
        boolean isText = parser.currentToken() == JsonToken.VALUE_STRING;
        parser.skipChildren();
        return isText ? parser.getString() : "";
    }

    private static long number(JsonParser parser) {
        boolean isNumber = parser.currentToken() == JsonToken.VALUE_NUMBER_INT;
        parser.skipChildren();
        return isNumber ? parser.getLongValue() : -1;
    }

    /** What an element of the listing says, in whatever order it says it. */
    private static final class Entry {
        private String type = "";
        private String path = "";
        private String gitName = "";
        private String sha256 = "";
        private long size = -1;
        private long largeSize = -1;

        boolean isWanted(String subject, Predicate<String> isWanted) {
            if (escapes(path)) {
                throw new HubException(
                        HubException.Kind.BAD_DATA,
                        subject + " lists '" + SafeText.of(path)
                                + "', which is no path inside a repository: nothing was" + " fetched");
            }
            return type.equals("file") && RepositoryPath.isSafe(path) && isWanted.test(path);
        }

        /** What no repository of git can hold, and only an attacker would list. */
        private static boolean escapes(String path) {
            return path.startsWith("/")
                    || path.indexOf('\0') >= 0
                    || ("/" + path.replace('\\', '/') + "/").contains("/../");
        }

        RepositoryFile file(String subject) {
            boolean isLarge = !sha256.isEmpty();
            long bytes = isLarge ? largeSize : size;
            String hex = isLarge ? sha256 : gitName;
            if (bytes < 0 || bytes > LARGEST_FILE || !(isLarge ? Checksum.isSha256(hex) : Checksum.isGitName(hex))) {
                throw malformed(subject, "it lists " + SafeText.of(path) + " without a usable size and checksum");
            }
            return new RepositoryFile(path, bytes, new Checksum(hex));
        }
    }

    // ---- parsing ----

    private interface Reading<T> {
        T of(JsonParser parser);
    }

    private static <T> T parsed(InputStream in, String subject, Reading<T> reading) throws IOException {
        try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), in)) {
            return reading.of(parser);
        } catch (JacksonException malformed) {
            if (malformed.getCause() instanceof IOException network) {
                throw network;
            }
            throw malformed(subject, malformed.getOriginalMessage());
        }
    }

    private static void requireToken(JsonParser parser, JsonToken wanted, String subject) {
        if (parser.nextToken() != wanted) {
            throw malformed(subject, "it begins with " + parser.currentToken());
        }
    }

    private static HubException malformed(String subject, String what) {
        return new HubException(
                HubException.Kind.BAD_DATA,
                subject + ": the hub's answer is not what a hub answers: " + SafeText.of(what));
    }
}
