package roselle.server.config;

import java.net.URI;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import roselle.api.InvalidRequestException;

/**
 * What a gateway is started with.
 *
 * @param members the servers behind it, each as {@code http://HOST:PORT}
 * @param retries how many further members are asked where one fails before its first byte, or is full
 * @param probe between two looks at a member's health and load
 * @param connect until a connection to a member is there
 * @param answer until a member's answer begins, and between two pieces of it
 * @param memberKey an operator's key of the members, by which their {@code /metrics} are read
 */
public record GatewayOptions(
        List<URI> members, int retries, Duration probe, Duration connect, Duration answer, Optional<String> memberKey) {
    private static final int MOST_MEMBERS = 256;

    /** Two retries, a look each second. */
    public static GatewayOptions of(List<URI> members) {
        return new GatewayOptions(
                members, 2, Duration.ofSeconds(1), Duration.ofSeconds(2), Duration.ofMinutes(10), Optional.empty());
    }

    public GatewayOptions {
        members = List.copyOf(members);
        if (members.isEmpty() || members.size() > MOST_MEMBERS) {
            throw new InvalidRequestException("there are " + members.size() + " members: name 1 to " + MOST_MEMBERS);
        }
        members.forEach(GatewayOptions::requireMember);
        if (new HashSet<>(members).size() < members.size()) {
            throw new InvalidRequestException("a member is named twice: name each once");
        }
        if (retries < 0 || retries > 100) {
            throw new InvalidRequestException("retries is " + retries + ": it must be between 0 and 100");
        }
        requireTime("the probe interval", probe, Duration.ofHours(1));
        requireTime("the connect timeout", connect, Duration.ofMinutes(5));
        requireTime("the answer timeout", answer, Duration.ofDays(1));
    }

    private static void requireMember(URI member) {
        boolean isPlain = "http".equals(member.getScheme())
                && member.getHost() != null
                && member.getPort() > 0
                && member.getPort() <= 65_535
                && (member.getRawPath() == null
                        || member.getRawPath().isEmpty()
                        || member.getRawPath().equals("/"))
                && member.getRawQuery() == null
                && member.getRawUserInfo() == null;
        if (!isPlain) {
            throw new InvalidRequestException("the member " + member + " is not one: write http://HOST:PORT");
        }
    }

    private static void requireTime(String name, Duration value, Duration most) {
        if (value.toMillis() < 1 || value.compareTo(most) > 0) {
            throw new InvalidRequestException(
                    name + " is " + value.toMillis() + " ms: it must be between 1 and " + most.toMillis());
        }
    }

    public GatewayOptions withRetries(int value) {
        return new GatewayOptions(members, value, probe, connect, answer, memberKey);
    }

    public GatewayOptions withProbe(Duration value) {
        return new GatewayOptions(members, retries, value, connect, answer, memberKey);
    }

    public GatewayOptions withConnect(Duration value) {
        return new GatewayOptions(members, retries, probe, value, answer, memberKey);
    }

    public GatewayOptions withAnswer(Duration value) {
        return new GatewayOptions(members, retries, probe, connect, value, memberKey);
    }

    public GatewayOptions withMemberKey(String value) {
        return new GatewayOptions(members, retries, probe, connect, answer, Optional.of(value));
    }
}
