package roselle.hub.http;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.Predicate;
import roselle.hub.file.Listing;
import roselle.hub.file.RepositoryFile;
import roselle.hub.request.HubConfig;
import roselle.hub.request.HubException;
import roselle.hub.request.HubName;
import roselle.hub.request.PullObserver;
import roselle.hub.text.RepositoryPath;
import roselle.hub.text.SafeText;

/** What is asked of the hub: which commit a revision is, which files it has, and their bytes. */
public final class HubApi implements AutoCloseable {
    static final int MAX_PAGES = 5_000;
    public static final int MAX_FILES = 20_000;
    private static final long MAX_LISTING_BYTES = 1L << 29;

    private final HubConfig config;
    private final HubHttp http;
    private final HubClock clock;

    public HubApi(HubConfig config, HubClock clock) {
        this.config = config;
        this.clock = clock;
        this.http = new HubHttp(config);
    }

    /** The commit that a revision is now. */
    public String commit(HubName name, Inquiry inquiry) throws IOException {
        URI address = http.address("/api/models/" + name.repository() + "/revision/" + encodedWhole(name.revision()));
        String subject = name.repository() + " at " + name.revision();
        return inquiry.attempts().run(() -> {
            try (HubResponse response = http.fetch(address, Optional.empty(), subject)) {
                return HubJson.commit(new BodyStream(response.body(), MAX_LISTING_BYTES, subject, inquiry), subject);
            }
        });
    }

    /** The files of a commit whose paths are wanted; a hostile path fails, wanted or not. */
    public Listing listing(String repository, String commit, Predicate<String> isWanted, Inquiry inquiry)
            throws IOException {
        SequencedMap<String, RepositoryFile> files = new LinkedHashMap<>();
        Optional<URI> page =
                Optional.of(http.address("/api/models/" + repository + "/tree/" + commit + "?recursive=true"));
        long bytesLeft = MAX_LISTING_BYTES;
        for (int number = 0; page.isPresent(); number++) {
            requireFewer(number, repository);
            Page read = readPage(page.get(), repository, isWanted, bytesLeft, inquiry);
            files.putAll(read.files());
            requireFewFiles(files.size(), repository);
            bytesLeft -= read.bytes();
            page = read.next();
        }
        return new Listing(repository, commit, files);
    }

    private record Page(SequencedMap<String, RepositoryFile> files, Optional<URI> next, long bytes) {}

    private Page readPage(URI address, String repository, Predicate<String> isWanted, long bytesLeft, Inquiry inquiry)
            throws IOException {
        return inquiry.attempts().run(() -> {
            try (HubResponse response = http.fetch(address, Optional.empty(), repository)) {
                var in = new BodyStream(response.body(), bytesLeft, repository + "'s listing", inquiry);
                var files = HubJson.files(in, repository, isWanted);
                return new Page(files, next(address, response), in.count());
            }
        });
    }

    private static void requireFewer(int pages, String repository) {
        if (pages >= MAX_PAGES) {
            throw new HubException(
                    HubException.Kind.BAD_DATA, repository + " is listed on more than " + MAX_PAGES + " pages");
        }
    }

    static void requireFewFiles(int files, String repository) {
        if (files > MAX_FILES) {
            throw new HubException(
                    HubException.Kind.BAD_DATA, repository + " lists more than " + MAX_FILES + " files of a model");
        }
    }

    /** The address in {@code Link: <address>; rel="next"}. */
    private static Optional<URI> next(URI page, HubResponse response) {
        String link = response.headers().firstValue("Link").orElse("");
        int end = link.indexOf('>');
        if (!link.startsWith("<") || end < 0 || !link.substring(end).contains("rel=\"next\"")) {
            return Optional.empty();
        }
        try {
            return Optional.of(page.resolve(link.substring(1, end)));
        } catch (IllegalArgumentException malformed) {
            throw new HubException(
                    HubException.Kind.BAD_DATA, "the hub's next page is at '" + SafeText.of(link) + "', no address");
        }
    }

    /** Asks once for a file's bytes from {@code from} until before {@code to}; the hub may send all of them instead. */
    public HubResponse open(Listing listing, RepositoryFile file, long from, long to) throws PassingFailure {
        URI address = http.address("/" + listing.repository() + "/resolve/" + listing.commit() + "/"
                + RepositoryPath.encoded(file.path()));
        String range = "bytes=" + from + "-" + (to - 1);
        return http.fetch(address, Optional.of(range), listing.repository() + "/" + file.path());
    }

    /** An inquiry about a repository, whose time begins now. */
    public Inquiry inquiry(HubName name, PullObserver observer) {
        observer.asking(HubHttp.host(config.endpoint()), name);
        return new Inquiry(name.repository(), config.transfer().times(), clock, observer);
    }

    /** Attempts to fetch a file's bytes, which may take the time that they need. */
    public Attempts attempts(PullObserver observer) {
        return new Attempts(config.transfer().times().pause(), clock, observer, Attempts.Limit.NONE);
    }

    public void abort() {
        http.abort();
    }

    private static String encodedWhole(String revision) {
        return RepositoryPath.encoded(revision).replace("/", "%2F");
    }

    @Override
    public void close() {
        http.close();
    }

    /** A body as Jackson reads it: no longer than it may be. */
    private static final class BodyStream extends InputStream {
        private final HubBody body;
        private final long limit;
        private final String subject;
        private final Inquiry inquiry;
        private long count;

        BodyStream(HubBody body, long limit, String subject, Inquiry inquiry) {
            this.inquiry = inquiry;
            this.body = body;
            this.limit = limit;
            this.subject = subject;
        }

        long count() {
            return count;
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
        }

        @Override
        public int read(byte[] buffer, int offset, int length) throws IOException {
            byte[] part = new byte[length];
            int read = body.read(part, length);
            System.arraycopy(part, 0, buffer, offset, Math.max(0, read));
            count += Math.max(0, read);
            inquiry.require(Duration.ZERO);
            if (count > limit) {
                throw new HubException(
                        HubException.Kind.BAD_DATA, subject + " takes more than " + MAX_LISTING_BYTES + " bytes");
            }
            return read;
        }
    }
}
