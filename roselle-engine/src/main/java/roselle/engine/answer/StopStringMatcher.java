package roselle.engine.answer;

import java.util.Arrays;
import java.util.List;

/**
 * Finds the first occurrence of any of several strings in text that arrives in pieces, and holds back only what may still
 * become one.
 *
 * <p>One Knuth-Morris-Pratt automaton a string. What is certain to be part of the answer is all but the longest suffix that is
 * a proper prefix of a stop string. Of several matches the one that is complete first wins, then the longest.
 */
final class StopStringMatcher {
    private final String[] stops;
    private final int[][] failure;
    private final int[] matched;
    private final StringBuilder held = new StringBuilder();
    private String match = "";

    StopStringMatcher(List<String> stopStrings) {
        stops = stopStrings.toArray(String[]::new);
        failure = new int[stops.length][];
        matched = new int[stops.length];
        for (int index = 0; index < stops.length; index++) {
            failure[index] = failureFunction(stops[index]);
        }
    }

    private static int[] failureFunction(String pattern) {
        var table = new int[pattern.length()];
        int length = 0;
        for (int index = 1; index < pattern.length(); index++) {
            while (length > 0 && pattern.charAt(index) != pattern.charAt(length)) {
                length = table[length - 1];
            }
            if (pattern.charAt(index) == pattern.charAt(length)) {
                length++;
            }
            table[index] = length;
        }
        return table;
    }

    /** The stop string that was found, or empty. */
    String match() {
        return match;
    }

    /** Takes the next piece of text; returns what is certain, up to the stop string once there is one. */
    String append(String piece) {
        if (stops.length == 0) {
            return piece;
        }
        for (int index = 0; index < piece.length() && match.isEmpty(); index++) {
            held.append(piece.charAt(index));
            advance(piece.charAt(index));
        }
        return release(match.isEmpty() ? longestPartial() : 0);
    }

    /** What was held back, now that no more text comes. */
    String finish() {
        return match.isEmpty() ? release(0) : "";
    }

    private void advance(char character) {
        int longest = 0;
        for (int index = 0; index < stops.length; index++) {
            String stop = stops[index];
            int state = matched[index];
            while (state > 0 && stop.charAt(state) != character) {
                state = failure[index][state - 1];
            }
            if (stop.charAt(state) == character) {
                state++;
            }
            if (state == stop.length()) {
                longest = Math.max(longest, state);
                match = longest == state ? stop : match;
                state = failure[index][state - 1];
            }
            matched[index] = state;
        }
        if (longest > 0) {
            held.setLength(held.length() - longest);
            Arrays.fill(matched, 0);
        }
    }

    private int longestPartial() {
        int longest = 0;
        for (int state : matched) {
            longest = Math.max(longest, state);
        }
        return longest;
    }

    private String release(int keep) {
        int certain = held.length() - keep;
        String text = held.substring(0, certain);
        held.delete(0, certain);
        return text;
    }
}
