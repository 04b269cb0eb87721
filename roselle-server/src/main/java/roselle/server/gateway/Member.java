package roselle.server.gateway;

import java.net.InetSocketAddress;
import java.net.URI;

/**
 * One server behind the gateway: whether it can be asked, what it says of its load, and what this gateway has sent there. What
 * {@link Members} changes is guarded by it; the watch writes the volatile fields.
 */
final class Member {
    private final URI uri;
    private volatile InetSocketAddress address;
    private volatile String complaint = "it has not been asked yet";
    private volatile MemberLoad load = MemberLoad.NONE;
    final PrefixMemory prefixes = new PrefixMemory();
    /** Looks in a row without an answer; the watch's own. */
    int silences;
    /** Bytes of prompts that were sent and for which nothing has come yet, without those that it should have. */
    long pendingBytes;
    /** Requests for which nothing has come yet. */
    int pending;
    /** Requests that have not ended. */
    int open;

    Member(URI uri) {
        this.uri = uri;
        address = resolved();
    }

    URI uri() {
        return uri;
    }

    /** As people read it, and series. */
    String name() {
        return uri.getAuthority();
    }

    InetSocketAddress address() {
        return address;
    }

    /** Looks its name up again: it may have moved. */
    void resolve() {
        address = resolved();
    }

    private InetSocketAddress resolved() {
        String host = uri.getHost();
        String plain = host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
        return new InetSocketAddress(plain, uri.getPort());
    }

    /** Why it cannot be asked; empty where it can. */
    String complaint() {
        return complaint;
    }

    boolean isReady() {
        return complaint.isEmpty();
    }

    MemberLoad load() {
        return load;
    }

    /** It answers. */
    void found(MemberLoad told) {
        load = told;
        complaint = "";
    }

    /** It does not, or not as it should. */
    void lost(String why) {
        complaint = why.isEmpty() ? "it does not answer" : why;
    }
}
