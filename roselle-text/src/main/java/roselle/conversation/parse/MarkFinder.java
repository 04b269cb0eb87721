package roselle.conversation.parse;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;

/**
 * Finds the first of several marks in a text that comes character by character, in a time that does not depend on how many marks
 * there are: the automaton of Aho and Corasick. Immutable; where it stands is a number that the reader keeps.
 */
public final class MarkFinder {
    /** Where every search begins. */
    public static final int START = 0;

    private final List<String> marks = new ArrayList<>();
    private final List<Node> nodes = new ArrayList<>();

    /** The beginning of a mark: what may follow, by letter, and where the search goes on if nothing of it does. */
    private static final class Node {
        final int depth;
        char[] letters = {};
        int[] children = {};
        int fallback = START;
        int found = -1;

        Node(int depth) {
            this.depth = depth;
        }

        int child(char letter) {
            for (int index = 0; index < letters.length; index++) {
                if (letters[index] == letter) {
                    return children[index];
                }
            }
            return -1;
        }

        void add(char letter, int child) {
            letters = Arrays.copyOf(letters, letters.length + 1);
            children = Arrays.copyOf(children, children.length + 1);
            letters[letters.length - 1] = letter;
            children[children.length - 1] = child;
        }
    }

    /** Empty marks are left out; of two that are the same the first counts. */
    public MarkFinder(Collection<String> marks) {
        nodes.add(new Node(0));
        for (String mark : marks) {
            if (!mark.isEmpty() && !this.marks.contains(mark)) {
                add(mark);
            }
        }
        link();
    }

    private void add(String mark) {
        int node = START;
        for (int position = 0; position < mark.length(); position++) {
            char letter = mark.charAt(position);
            int child = nodes.get(node).child(letter);
            if (child < 0) {
                child = nodes.size();
                nodes.add(new Node(position + 1));
                nodes.get(node).add(letter, child);
            }
            node = child;
        }
        nodes.get(node).found = marks.size();
        marks.add(mark);
    }

    private void link() {
        var queue = new ArrayDeque<Integer>();
        for (int child : nodes.get(START).children) {
            queue.add(child);
        }
        while (!queue.isEmpty()) {
            Node node = nodes.get(queue.remove());
            for (int index = 0; index < node.letters.length; index++) {
                Node child = nodes.get(node.children[index]);
                child.fallback = step(node.fallback, node.letters[index]);
                if (child.found < 0) {
                    child.found = nodes.get(child.fallback).found;
                }
                queue.add(node.children[index]);
            }
        }
    }

    public boolean isEmpty() {
        return marks.isEmpty();
    }

    /** Where the search stands behind one more character. */
    public int step(int state, char letter) {
        int node = state;
        int child = nodes.get(node).child(letter);
        while (child < 0 && node != START) {
            node = nodes.get(node).fallback;
            child = nodes.get(node).child(letter);
        }
        return Math.max(child, START);
    }

    /** How many of the last characters may be the beginning of a mark. */
    public int pending(int state) {
        return nodes.get(state).depth;
    }

    /** The mark that has just ended, or −1. */
    public int found(int state) {
        return nodes.get(state).found;
    }

    public String mark(int index) {
        return marks.get(index);
    }
}
