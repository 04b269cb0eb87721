package roselle.hub;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import roselle.hub.cache.BlobLock;
import roselle.hub.cache.HubCache;
import roselle.hub.cache.PartFile;
import roselle.hub.file.Checksum;
import roselle.hub.file.Listing;
import roselle.hub.file.RepositoryFile;
import roselle.hub.http.Attempts;
import roselle.hub.http.HubApi;
import roselle.hub.http.HubHttp;
import roselle.hub.http.HubResponse;
import roselle.hub.http.PassingFailure;
import roselle.hub.request.HubException;
import roselle.hub.text.SafeText;

/**
 * Fetches one file into its blob: under its lock, in pieces side by side, checked before it gets the name.
 *
 * <p>The first request asks for a range like all others. If the hub sends the whole file instead, what was there is forgotten and
 * this one answer is the download; else the other pieces follow on connections of their own.
 */
final class FileDownload {
    private static final int BUFFER_BYTES = 1 << 18;
    private static final int MAX_CHECKS = 2;
    /** What the first request of a file in several pieces asks for: enough to learn whether the hub knows ranges. */
    private static final long FIRST_BYTES = 1 << 20;

    private final HubApi api;
    private final HubCache cache;
    private final Listing listing;
    private final RepositoryFile file;
    private final Transfers transfers;

    FileDownload(HubApi api, HubCache cache, Listing listing, RepositoryFile file, Transfers transfers) {
        this.api = api;
        this.cache = cache;
        this.listing = listing;
        this.file = file;
        this.transfers = transfers;
    }

    /** Fetches, checks and links the file, unless it is there. */
    void run() throws IOException {
        Path blob = cache.blob(file.checksum());
        Runnable onWait = () -> transfers.observer().waiting(file.path());
        if (!cache.has(file)) {
            try (var _ =
                    BlobLock.acquire(cache.lock(file.checksum()), PartFile.of(blob), transfers.patience(), onWait)) {
                if (cache.has(file)) {
                    transfers.observer().received(file.size()); // another process has fetched it meanwhile
                } else {
                    fetch(blob);
                }
            }
        }
        cache.link(listing.commit(), file);
        transfers.observer().finished(file.path(), file.size());
    }

    private void fetch(Path blob) throws IOException {
        for (int check = 1; ; check++) {
            PartFile part = PartFile.open(
                    PartFile.of(blob), file.size(), transfers.options().pieceBytes());
            try (part) {
                transfers.observer().received(part.bytesPresent());
                fill(part);
                Checksum found = file.checksum().of(PartFile.of(blob), file.size());
                if (found.equals(file.checksum())) {
                    part.becomes(blob);
                    return;
                }
                part.discard();
                rejected(found, check);
            }
        }
    }

    /** Bytes that are not those the hub promised: the next attempt starts from nothing, and is the last. */
    private void rejected(Checksum found, int check) {
        transfers.observer().received(-file.size());
        if (check == MAX_CHECKS) {
            throw new HubException(
                    HubException.Kind.BAD_DATA,
                    subject() + " has the " + found.algorithm() + " " + found.hex() + ", but the hub promises "
                            + file.checksum().hex() + ": fetched twice, nothing of it was kept");
        }
        transfers.observer().restarting(file.path());
    }

    // ---- pieces ----

    private void fill(PartFile part) throws IOException {
        var attempts = api.attempts(transfers.observer());
        while (!missing(part).isEmpty()) {
            if (begin(part, missing(part).getFirst(), attempts)) {
                transfers.all(missing(part).stream().map(piece -> () -> finishPiece(part, piece)));
            }
        }
    }

    private static List<Integer> missing(PartFile part) {
        return IntStream.range(0, part.pieces())
                .filter(piece -> !part.hasAll(piece))
                .boxed()
                .toList();
    }

    /** Fetches from the first missing byte; whether the hub knows ranges, so that pieces can follow side by side. */
    private boolean begin(PartFile part, int first, Attempts attempts) throws IOException {
        long from = part.next(first);
        long to = part.pieces() == 1 ? part.to(first) : Math.min(part.to(first), from + FIRST_BYTES);
        try (var _ = transfers.connection();
                HubResponse response = open(from, to)) {
            if (!response.isPartial()) {
                receiveWhole(part, response, attempts);
                return false;
            }
            requireRange(response, from);
            receive(part, first, to, response, attempts);
            return true;
        } catch (PassingFailure failure) {
            transfers.requireGoing();
            attempts.await(failure);
            return false;
        }
    }

    private void finishPiece(PartFile part, int piece) throws IOException {
        var attempts = api.attempts(transfers.observer());
        while (!part.hasAll(piece)) {
            long from = part.next(piece);
            try (var _ = transfers.connection();
                    HubResponse response = open(from, part.to(piece))) {
                requireRange(response, from);
                receive(part, piece, part.to(piece), response, attempts);
            } catch (PassingFailure failure) {
                transfers.requireGoing();
                attempts.await(failure);
            }
        }
    }

    private HubResponse open(long from, long to) throws PassingFailure {
        HubResponse response = api.open(listing, file, from, to);
        boolean isAgreed = response.hub()
                .firstValue("X-Linked-Etag")
                .map(FileDownload::bare)
                .filter(Checksum::isSha256)
                .map(file.checksum().hex()::equals)
                .orElse(true);
        if (!isAgreed) {
            response.close();
            throw new HubException(
                    HubException.Kind.BAD_DATA,
                    subject() + ": the hub lists the checksum "
                            + file.checksum().hex() + " but sends another file ("
                            + SafeText.of(
                                    response.hub().firstValue("X-Linked-Etag").orElse("")) + ")");
        }
        return response;
    }

    /** An entity tag without its quotes and the mark of a weak one. */
    private static String bare(String etag) {
        String strong = etag.startsWith("W/") ? etag.substring(2) : etag;
        return strong.replace("\"", "");
    }

    /** {@code Content-Range: bytes FROM-TO/SIZE} has to say what was asked for. */
    private void requireRange(HubResponse response, long from) throws PassingFailure {
        String range = response.headers().firstValue("Content-Range").orElse("");
        if (!response.isPartial() || !range.startsWith("bytes " + from + "-")) {
            throw new PassingFailure(subject() + ": asked for bytes from " + from + ", " + HubHttp.host(response.uri())
                    + " answers " + response.status() + " with '" + SafeText.of(range) + "'");
        }
        String total = range.substring(range.indexOf('/') + 1);
        if (!total.equals("*") && !total.equals(Long.toString(file.size()))) {
            throw new HubException(
                    HubException.Kind.BAD_DATA,
                    subject() + " has " + SafeText.of(total) + " bytes, but the hub lists " + file.size());
        }
    }

    private void receive(PartFile part, int piece, long to, HubResponse response, Attempts attempts)
            throws IOException {
        byte[] buffer = new byte[(int) Math.min(BUFFER_BYTES, to - part.from(piece))];
        while (part.next(piece) < to) {
            int wanted = (int) Math.min(buffer.length, to - part.next(piece));
            int length = response.body().read(buffer, wanted);
            if (length < 0) {
                throw truncated(part.next(piece));
            }
            transfers.requireGoing();
            part.append(piece, ByteBuffer.wrap(buffer, 0, length));
            attempts.received(length);
            transfers.observer().received(length);
        }
    }

    /** Takes all pieces from one answer that begins at byte 0; broken off, it is of no use to a hub without ranges. */
    private void receiveWhole(PartFile part, HubResponse response, Attempts attempts) throws IOException {
        transfers.observer().received(-part.bytesPresent());
        part.reset();
        for (int piece = 0; piece < part.pieces(); piece++) {
            receive(part, piece, part.to(piece), response, attempts);
        }
        if (response.body().read(new byte[1], 1) > 0) {
            throw new HubException(
                    HubException.Kind.BAD_DATA,
                    subject() + " has more bytes than the " + file.size() + " that the hub lists");
        }
    }

    private PassingFailure truncated(long at) {
        return new PassingFailure(subject() + " ended at byte " + at + " of " + file.size());
    }

    private String subject() {
        return listing.repository() + "/" + SafeText.of(file.path());
    }
}
