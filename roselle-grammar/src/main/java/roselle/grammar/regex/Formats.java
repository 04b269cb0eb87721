package roselle.grammar.regex;

import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The formats of JSON Schema as languages; each text is one that Java's own parser of such things accepts.
 */
public final class Formats {
    private static final String DATE = "(?:(?:[0-9]{4})-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
            + "|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))"
            + "|(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)";
    private static final String ZONE = "(?:[Zz]|[+-](?:0[0-9]|1[0-7]):[0-5][0-9]|[+-]18:00)";
    private static final String CLOCK = "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]{1,9})?";
    private static final String BYTE = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
    private static final String IPV4 = BYTE + "(?:\\." + BYTE + "){3}";
    private static final String H16 = "[0-9A-Fa-f]{1,4}";
    private static final String LS32 = "(?:" + H16 + ":" + H16 + "|" + IPV4 + ")";
    private static final String IPV6 = "(?:(?:" + H16 + ":){6}" + LS32
            + "|::(?:" + H16 + ":){5}" + LS32
            + "|(?:" + H16 + ")?::(?:" + H16 + ":){4}" + LS32
            + "|(?:(?:" + H16 + ":){0,1}" + H16 + ")?::(?:" + H16 + ":){3}" + LS32
            + "|(?:(?:" + H16 + ":){0,2}" + H16 + ")?::(?:" + H16 + ":){2}" + LS32
            + "|(?:(?:" + H16 + ":){0,3}" + H16 + ")?::" + H16 + ":" + LS32
            + "|(?:(?:" + H16 + ":){0,4}" + H16 + ")?::" + LS32
            + "|(?:(?:" + H16 + ":){0,5}" + H16 + ")?::" + H16
            + "|(?:(?:" + H16 + ":){0,6}" + H16 + ")?::)";
    private static final String LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
    /** Labels with hyphens in the third and fourth place are of international names, which are not judged here. */
    private static final String HOST = "(?=.{1,253}$)(?!(?:.*\\.)?[^.]{2}--)" + LABEL + "(?:\\." + LABEL + ")*";

    private static final String ATEXT = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]";
    private static final String EMAIL =
            "(?=[^@]{1,64}@|\")(?:" + ATEXT + "+(?:\\." + ATEXT + "+)*|\"(?:[ !#-\\[\\]-~]|\\\\[ -~])*\")@(?:" + LABEL
                    + "(?:\\." + LABEL + ")*|\\[" + IPV4 + "\\]|\\[IPv6:" + IPV6 + "\\])";
    private static final String IDN = "\\u00A1-\\uD7FF\\uF900-\\u{10FFFF}";

    /** Letters that may stand anywhere in a label, whatever stands beside them, and so few that their ASCII form fits. */
    private static final String IDN_LETTERS =
            "\\u00E0-\\u00F6\\u00F8-\\u00FF\\u3041-\\u3094\\u30A1-\\u30F4\\u4E00-\\u9FA5\\uAC00-\\uD7A3";

    private static final String KATAKANA_MIDDLE_DOT = "\\u30FB[\\u3041-\\u3094\\u30A1-\\u30F4\\u4E00-\\u9FA5]{1,14}";
    /** Letters of one script each; those written from the right stand alone, with their own signs between them. */
    private static final String SCRIPTS = "[\\u03AC-\\u03CE]{1,30}|[\\u03AC-\\u03CE]\\u0375[\\u03AC-\\u03CE]|l\\u00B7l"
            + "|[\\u05D0-\\u05EA][\\u05F3\\u05F4]?[\\u05D0-\\u05EA]{1,14}|\\u0628[\\u0660-\\u0669]{0,9}\\u0628|\\u06F0[0-9]{1,9}"
            + "|[\\u06FD\\u06FE]{1,9}|[\\u00DF\\u03C2\\u0F0B\\u3007]{1,9}";

    private static final String IDN_LABEL =
            "(?:" + LABEL + "|[a-z0-9" + IDN_LETTERS + "]{1,15}|" + KATAKANA_MIDDLE_DOT + "|" + SCRIPTS + ")";
    private static final String IDN_HOST =
            "(?=.{1,253}$)(?!(?:.*[.\\u3002\\uFF0E\\uFF61])?[^.\\u3002\\uFF0E\\uFF61]{2}--)" + IDN_LABEL
                    + "(?:[.\\u3002\\uFF0E\\uFF61]" + IDN_LABEL + ")*";

    private static final String URI_UNRESERVED = "A-Za-z0-9._~!$&'()*+,;=";
    private static final String VARIABLE_NAME = "(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})";
    private static final String VARIABLE = VARIABLE_NAME + "(?:\\.?" + VARIABLE_NAME + ")*(?:\\*|:[1-9][0-9]{0,3})?";
    private static final Map<String, String> EXPRESSIONS = Map.ofEntries(
            Map.entry("date", DATE),
            Map.entry("time", CLOCK + ZONE),
            Map.entry("date-time", DATE + "[Tt]" + CLOCK + ZONE),
            Map.entry(
                    "duration",
                    "P(?:[0-9]{1,9}W|(?:[0-9]{1,9}Y(?:[0-9]{1,9}M(?:[0-9]{1,9}D)?)?|[0-9]{1,9}M(?:[0-9]{1,9}D)?|[0-9]{1,9}D)(?:T(?:"
                            + "[0-9]{1,9}H(?:[0-9]{1,9}M(?:[0-9]{1,9}S)?)?|[0-9]{1,9}M(?:[0-9]{1,9}S)?|[0-9]{1,9}S))?|T(?:"
                            + "[0-9]{1,9}H(?:[0-9]{1,9}M(?:[0-9]{1,9}S)?)?|[0-9]{1,9}M(?:[0-9]{1,9}S)?|[0-9]{1,9}S))"),
            Map.entry("email", EMAIL),
            Map.entry(
                    "idn-email",
                    EMAIL.replace("A-Za-z0-9!", IDN + "A-Za-z0-9!")
                            .replace("(?:[ !#-", "(?:[" + IDN + " !#-")
                            .replace("[A-Za-z0-9]", "[" + IDN + "A-Za-z0-9]")
                            .replace("[A-Za-z0-9-]", "[" + IDN + "A-Za-z0-9-]")),
            Map.entry("idn-hostname", IDN_HOST),
            Map.entry("regex", regex(3)),
            Map.entry("hostname", HOST),
            Map.entry("ipv4", IPV4),
            Map.entry("ipv6", IPV6),
            Map.entry("uuid", "[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}"),
            Map.entry("uri", uri("", false)),
            Map.entry("uri-reference", uri("", true)),
            Map.entry("iri", uri("\\u00A0-\\uD7FF\\uF900-\\uFDCF\\uFDF0-\\uFFEF\\u{10000}-\\u{1FFFD}", false)),
            Map.entry("iri-reference", uri("\\u00A0-\\uD7FF\\uF900-\\uFDCF\\uFDF0-\\uFFEF\\u{10000}-\\u{1FFFD}", true)),
            Map.entry(
                    "uri-template",
                    "(?:[^\\u0000-\\u0020\"%<>\\\\^`{|}\\u007F-\\u00A0]|%[0-9A-Fa-f]{2}|\\{[+#./;?&=,!@|]?" + VARIABLE
                            + "(?:," + VARIABLE + ")*\\})*"),
            Map.entry("json-pointer", "(?:/(?:[^~/]|~[01])*)*"),
            Map.entry("relative-json-pointer", "(?:0|[1-9][0-9]*)(?:#|(?:/(?:[^~/]|~[01])*)*)"));

    /** Those that have few states, whatever has been read. */
    private static final Set<String> SHARED = Set.of(
            "date",
            "time",
            "date-time",
            "duration",
            "email",
            "idn-email",
            "ipv4",
            "ipv6",
            "uuid",
            "uri",
            "uri-reference",
            "iri",
            "iri-reference",
            "uri-template",
            "json-pointer",
            "relative-json-pointer");

    private Formats() {}

    private static String uri(String more, boolean isReference) {
        String character = "(?:[" + URI_UNRESERVED + more + ":@-]|%[0-9A-Fa-f]{2})";
        String plain = "(?:[" + URI_UNRESERVED + more + "-]|%[0-9A-Fa-f]{2})";
        String first = "(?:[" + URI_UNRESERVED + more + "@-]|%[0-9A-Fa-f]{2})";
        String ofQuery = more.isEmpty() ? "[/?]" : "[/?\\uE000-\\uF8FF\\u{F0000}-\\u{FFFFD}\\u{100000}-\\u{10FFFD}]";
        String query = "(?:\\?(?:" + character + "|" + ofQuery + ")*)?(?:#(?:" + character + "|[/?])*)?";
        String host = "(?:\\[(?:" + IPV6 + "|[vV][0-9A-Fa-f]+\\.[A-Za-z0-9._~!$&'()*+,;=:-]+)\\]|" + plain + "*)";
        String authority = "//(?:(?:" + plain + "|:)*@)?" + host + "(?::[0-9]*)?(?:/" + character + "*)*";
        String rooted = "/(?:" + character + "+(?:/" + character + "*)*)?";
        String rootless = character + "+(?:/" + character + "*)*";
        String absolute = "[A-Za-z][A-Za-z0-9+.-]*:(?:" + authority + "|" + rooted + "|" + rootless + ")?" + query;
        if (!isReference) {
            return absolute;
        }
        String relative = "(?:" + authority + "|" + rooted + "|" + first + "+(?:/" + character + "*)*)?" + query;
        return "(?:" + absolute + "|" + relative + ")";
    }

    /** Regular expressions whose groups are nested at most so deep: all that a language without a stack can hold. */
    private static String regex(int depth) {
        String escape =
                "\\\\(?:c[A-Za-z]|[dDwWsSnrtfv0^$\\\\.*+?()\\[\\]{}|/-]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|p\\{(?:L|Lu|Ll|N|Nd|P|S|Z)\\})";
        String member = "(?:[^\\\\\\]\\[-]|" + escape + ")";
        String set =
                "\\[\\^?" + member + "*-?\\]|\\[\\^?(?:a-z|A-Z|0-9)(?:a-z|A-Z|0-9|[^\\\\\\]\\[-]|\\\\[dws.$+/-])*-?\\]";
        String atom = "[^\\^$\\\\.*+?()\\[\\]{}|]|\\.|" + set + "|" + escape + "|\\\\[bB]";
        String quantified = "(?:[*+?]|\\{[0-9]{1,3}(?:,)?\\}|\\{[0-9],[1-9][0-9]\\})?\\??";
        String expression = "(?:\\^|\\$|(?:" + atom + ")" + quantified + "|\\|)*";
        String plain = quantified.substring(0, quantified.length() - 3);
        expression = expression.replace(quantified, plain);
        for (int i = 0; i < depth; i++) {
            String group = "\\((?:\\?:)?" + expression + "\\)" + plain;
            expression = "(?:\\^|\\$|(?:" + atom + ")" + plain + "|\\||" + group + ")*";
        }
        return expression;
    }

    /** The texts of a format; null for a format that is not known, which is then a remark. */
    public static @Nullable Language find(Languages languages, String name) {
        String expression = EXPRESSIONS.get(name);
        if (expression == null) {
            return null;
        }
        Language found = Regex.whole(languages, expression);
        found.format = SHARED.contains(name) ? name : found.format;
        return found;
    }
}
