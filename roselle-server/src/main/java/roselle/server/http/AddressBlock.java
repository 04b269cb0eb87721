package roselle.server.http;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.HexFormat;

/** Addresses that one client has: a single one of IPv4, the 64 bits of IPv6 that a network gives to each of its customers. */
final class AddressBlock {
    private static final int NETWORK_BYTES = 8;

    private AddressBlock() {}

    /** The block of an address, as a name for it. */
    static String of(InetAddress address) {
        byte[] bytes = address.getAddress();
        byte[] network = address instanceof Inet6Address ? Arrays.copyOf(bytes, NETWORK_BYTES) : bytes;
        return "address " + HexFormat.of().formatHex(network);
    }
}
