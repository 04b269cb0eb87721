package roselle.jinja.text;

import java.util.ArrayList;
import java.util.List;

/**
 * A search for one string in others, linear in both lengths whatever they hold.
 *
 * <p>Java's {@code indexOf} takes the product of the lengths in the worst case, which short needles do not reach; long
 * ones are searched as Knuth, Morris and Pratt do.
 */
public final class Search {
    private static final int SHORT = 16;

    private final String needle;
    private final int[] borders;

    private Search(String needle) {
        this.needle = needle;
        borders = needle.length() <= SHORT ? new int[0] : borders(needle);
    }

    public static Search of(String needle) {
        return new Search(needle);
    }

    /** The first place at or after {@code from}, or -1. */
    public int indexIn(String text, int from) {
        if (needle.length() <= SHORT) {
            return text.indexOf(needle, from);
        }
        int matched = 0;
        for (int i = from; i < text.length(); i++) {
            matched = advance(matched, text.charAt(i));
            if (matched == needle.length()) {
                return i - matched + 1;
            }
        }
        return -1;
    }

    /** All places, left to right, that do not overlap; at most so many. */
    public List<Integer> places(String text, int most) {
        var places = new ArrayList<Integer>();
        int from = 0;
        while (places.size() < most) {
            int place = indexIn(text, from);
            if (place < 0) {
                break;
            }
            places.add(place);
            from = place + needle.length();
        }
        return places;
    }

    /** All places that do not overlap, found from the right, given left to right; at most so many. */
    public List<Integer> placesFromRight(String text, int most) {
        var mirrored = Search.of(mirror(needle)).places(mirror(text), most);
        var places = new ArrayList<Integer>();
        for (int place : mirrored.reversed()) {
            places.add(text.length() - place - needle.length());
        }
        return places;
    }

    /** The last place, or -1. */
    public int lastIndexIn(String text) {
        var places = placesFromRight(text, 1);
        return places.isEmpty() ? -1 : places.getFirst();
    }

    /** UTF-16 units in reverse; unlike {@code StringBuilder.reverse} it does not keep surrogate pairs together. */
    private static String mirror(String text) {
        var units = new char[text.length()];
        for (int i = 0; i < units.length; i++) {
            units[units.length - 1 - i] = text.charAt(i);
        }
        return new String(units);
    }

    private int advance(int matched, char unit) {
        int state = matched;
        while (state > 0 && needle.charAt(state) != unit) {
            state = borders[state - 1];
        }
        return needle.charAt(state) == unit ? state + 1 : state;
    }

    private static int[] borders(String needle) {
        var borders = new int[needle.length()];
        for (int i = 1; i < needle.length(); i++) {
            int border = borders[i - 1];
            while (border > 0 && needle.charAt(border) != needle.charAt(i)) {
                border = borders[border - 1];
            }
            borders[i] = needle.charAt(border) == needle.charAt(i) ? border + 1 : border;
        }
        return borders;
    }
}
