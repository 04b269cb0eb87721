package roselle.server.transport;

import java.util.BitSet;

/**
 * What a request asks for, as it was spelled: nothing is decoded (RFC 9112, section 3.2; RFC 3986).
 *
 * @param authority of a target that has one, else empty
 * @param path at least a slash, or a star
 * @param query without the question mark
 */
record RequestTarget(String authority, String path, String query) {
    private static final String UNRESERVED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    private static final String DELIMITERS = "!$&'()*+,;=";
    private static final BitSet AUTHORITY = set(UNRESERVED + DELIMITERS + ":[]");
    private static final BitSet PATH = set(UNRESERVED + DELIMITERS + ":@/");
    /** With those that browsers leave as they are. */
    private static final BitSet QUERY = set(UNRESERVED + DELIMITERS + ":@/?[]{}|\\^`");

    static RequestTarget of(String text) {
        if (text.equals("*")) {
            return new RequestTarget("", text, "");
        }
        if (text.startsWith("/")) {
            return of("", text);
        }
        int begin = afterScheme(text);
        int end = begin;
        while (end < text.length() && text.charAt(end) != '/' && text.charAt(end) != '?') {
            end++;
        }
        String rest = text.substring(end);
        return of(authority(text.substring(begin, end)), rest.startsWith("/") ? rest : "/" + rest);
    }

    private static RequestTarget of(String authority, String rest) {
        int mark = rest.indexOf('?');
        String path = mark < 0 ? rest : rest.substring(0, mark);
        String query = mark < 0 ? "" : rest.substring(mark + 1);
        require(path, PATH, "path");
        require(query, QUERY, "query");
        return new RequestTarget(authority, path, query);
    }

    /** Requires that a text could name a host, with a port or without. */
    static String authority(String text) {
        require(text, AUTHORITY, "host");
        return text;
    }

    private static int afterScheme(String text) {
        for (String scheme : new String[] {"http://", "https://"}) {
            if (text.regionMatches(true, 0, scheme, 0, scheme.length())) {
                return scheme.length();
            }
        }
        throw new RefusedException(400, "the target is neither a path nor an address");
    }

    private static void require(String text, BitSet allowed, String part) {
        for (int index = 0; index < text.length(); index++) {
            char next = text.charAt(index);
            if (next == '%' ? !isEscape(text, index) : !allowed.get(next)) {
                throw new RefusedException(400, "the " + part + " has a character that must be encoded");
            }
        }
    }

    private static boolean isEscape(String text, int index) {
        return index + 2 < text.length() && isHex(text.charAt(index + 1)) && isHex(text.charAt(index + 2));
    }

    private static boolean isHex(char digit) {
        return digit < 128 && Character.digit(digit, 16) >= 0;
    }

    private static BitSet set(String characters) {
        var set = new BitSet(128);
        characters.chars().forEach(set::set);
        return set;
    }
}
