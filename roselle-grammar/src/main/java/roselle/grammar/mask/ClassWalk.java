package roselle.grammar.mask;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import roselle.grammar.automaton.Lexeme;

/**
 * A walk of the {@link ClassTrie} along a lexeme: where a group of symbols leads to one lexeme, all of them are one step. Where one
 * does not, the vocabulary's own trie is walked from there on. Not thread-safe.
 */
final class ClassWalk {
    private final TokenTrie trie;
    private final ClassTrie classes;
    private final LexemeWalk walk;
    private Ranges found = new Ranges(); // of the innermost walk, in the tokens of the classes

    ClassWalk(Vocabulary vocabulary, LexemeWalk walk) {
        this.trie = vocabulary.trie();
        this.classes = vocabulary.classes();
        this.walk = walk;
    }

    /** The node to begin at, where this is worth it; -1 where it is not. */
    int root(Lexeme lexeme, int node) {
        Lexeme.Groups groups = lexeme.closing() == '"' ? lexeme.groups() : null;
        return groups != null && groups.mixed() == 0 ? classes.of(node) : -1;
    }

    /** Adds the tokens below a node that stay inside a lexeme to the walk's, and its ends. */
    void inside(Lexeme lexeme, int root, Ends.Builder ends) {
        Ranges outer = found; // of a walk that this one is in the midst of
        found = new Ranges();
        below(lexeme, root, ends);
        walk.addMany(classes, found);
        found = outer;
    }

    private void below(Lexeme lexeme, int node, Ends.Builder ends) {
        Lexeme.Groups groups = Objects.requireNonNull(lexeme.groups()); // it stands between symbols
        boolean isBeyondMixed = groups.mixed() >>> ClassTrie.BEYOND != 0;
        if (isBeyondMixed) {
            for (int at : classes.nodes[node]) {
                walk.beyond(lexeme, at, ends);
            }
        }
        for (int child = node + 1; child < classes.end[node]; child = classes.end[child]) {
            int kind = classes.kind[child];
            if (kind < ClassTrie.GROUP) {
                enter(lexeme.next(kind), child, ends);
            } else if (kind < ClassTrie.GROUP + ClassTrie.BEYOND || !isBeyondMixed) {
                enterGroup(lexeme, groups, child, ends);
            }
        }
    }

    private void enterGroup(Lexeme lexeme, Lexeme.Groups groups, int child, Ends.Builder ends) {
        int group = classes.kind[child] - ClassTrie.GROUP;
        if (group >= groups.behind().length) {
            if (isAnyBehind(groups, classes.kind[child] - ClassTrie.PARTIAL)) {
                addOwn(child);
            }
        } else if (groups.isMixed(group)) {
            for (int at : classes.nodes[child]) {
                walk.enter(lexeme.next(trie.octet[at] & 0xFF), at, ends);
            }
        } else {
            enter(groups.behind()[group], child, ends);
        }
    }

    private static boolean isAnyBehind(Lexeme.Groups groups, int beyond) {
        for (int i = ClassTrie.BEYOND; i < groups.behind().length; i++) {
            if ((beyond & 1 << (i - ClassTrie.BEYOND)) != 0 && groups.behind()[i] != null) {
                return true;
            }
        }
        return false;
    }

    private void addOwn(int node) {
        if (classes.firstToken[node] < classes.firstToken[node + 1]) {
            found.add(classes.firstToken[node], classes.firstToken[node + 1]);
        }
    }

    private void enter(@Nullable Lexeme lexeme, int node, Ends.Builder ends) {
        if (lexeme == null) {
            return;
        }
        addOwn(node);
        boolean isLeaf = classes.end[node] == node + 1;
        boolean mayEnd = lexeme.mayEnd();
        if (mayEnd || !lexeme.isBetweenSymbols()) {
            for (int at : classes.nodes[node]) {
                if (!trie.hasChildren(at)) {
                    continue;
                }
                if (mayEnd) {
                    ends.add(lexeme, at);
                }
                if (!lexeme.isBetweenSymbols()) {
                    walk.collect(lexeme, at, ends);
                }
            }
        }
        if (!isLeaf && lexeme.isBetweenSymbols()) {
            below(lexeme, node, ends);
        }
    }
}
