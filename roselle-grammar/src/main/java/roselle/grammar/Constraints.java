package roselle.grammar;

import java.util.List;
import roselle.grammar.automaton.Constraint;
import roselle.grammar.automaton.GrammarException;
import roselle.grammar.automaton.RenewedConstraint;
import roselle.grammar.ebnf.EarleyConstraint;
import roselle.grammar.ebnf.GbnfReader;
import roselle.grammar.ebnf.LarkReader;
import roselle.grammar.regex.Languages;
import roselle.grammar.regex.Regex;
import roselle.grammar.regex.TextConstraint;
import roselle.grammar.schema.SchemaCompiler;
import roselle.grammar.schema.SchemaOptions;

/** Constraints out of what a request says. Each is compiled once, may serve any number of answers, and builds itself as it is used. */
public final class Constraints {
    private Constraints() {}

    /**
     * Texts that a regular expression in ECMA's syntax matches as a whole.
     *
     * @throws GrammarException if it is none, is not supported, or costs too much
     */
    public static Constraint regex(String expression, GrammarLimits limits) {
        limits.check(expression);
        return built(limits, budget -> {
            Languages languages = new Languages(budget);
            return new TextConstraint(languages, Regex.whole(languages, expression));
        });
    }

    /** One of some texts. */
    public static Constraint choice(List<String> texts, GrammarLimits limits) {
        List<String> all = List.copyOf(texts);
        return built(limits, budget -> {
            Languages languages = new Languages(budget);
            return new TextConstraint(languages, languages.literals(all));
        });
    }

    private static Constraint built(GrammarLimits limits, RenewedConstraint.Source source) {
        return new RenewedConstraint(
                source, limits.workUnits(), limits.stepUnits(), limits.answerUnits(), limits.keptUnits());
    }

    /**
     * JSON texts that a schema allows, of any draft from 4 to 2020-12.
     *
     * @throws GrammarException if it is no schema, says what is not supported, allows nothing, or costs too much
     */
    public static Constraint jsonSchema(String schema, SchemaOptions options, GrammarLimits limits) {
        return jsonSchema(schema, options, List.of(), limits);
    }

    /**
     * The same, where none of the strings and keys has one of some texts in it, however it is escaped.
     *
     * @throws GrammarException if it is no schema, says what is not supported, allows nothing, or costs too much
     */
    public static Constraint jsonSchema(
            String schema, SchemaOptions options, List<String> excluded, GrammarLimits limits) {
        limits.check(schema);
        List<String> all = List.copyOf(excluded);
        return built(limits, budget -> SchemaCompiler.compile(schema, options, all, budget));
    }

    /**
     * Texts that the rule {@code root} of a GBNF grammar derives, as llama.cpp reads it; left-recursive rules are read, too, and rules
     * that speak of tokens are refused.
     *
     * @throws GrammarException if it is no grammar, says what is not supported, derives nothing, or costs too much
     */
    public static Constraint gbnf(String grammar, GrammarLimits limits) {
        limits.check(grammar);
        return built(limits, budget -> {
            budget.spend(grammar.length() / 8);
            Languages languages = new Languages(budget);
            return new EarleyConstraint(languages, GbnfReader.read(languages, grammar), "root");
        });
    }

    /**
     * Texts that the rule {@code start} of a grammar in a subset of Lark derives.
     *
     * @throws GrammarException if it is no grammar, says what is not supported, derives nothing, or costs too much
     */
    public static Constraint lark(String grammar, GrammarLimits limits) {
        limits.check(grammar);
        return built(limits, budget -> {
            budget.spend(grammar.length() / 8);
            Languages languages = new Languages(budget);
            return new EarleyConstraint(languages, LarkReader.read(languages, grammar), LarkReader.WHOLE);
        });
    }

    /** Texts of a grammar in GBNF, or, where no line has {@code ::=}, in Lark. */
    public static Constraint grammar(String grammar, GrammarLimits limits) {
        return LarkReader.isLark(grammar) ? lark(grammar, limits) : gbnf(grammar, limits);
    }

    /** Any JSON object. */
    public static Constraint jsonObject(SchemaOptions options, GrammarLimits limits) {
        return jsonSchema("{\"type\":\"object\"}", options, limits);
    }
}
