package roselle.grammar.schema;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import roselle.grammar.regex.Language;
import roselle.grammar.schema.SchemaCompiler.Scoped;

/**
 * {@code unevaluatedProperties} and {@code unevaluatedItems}: which members and items other keywords have judged depends on which
 * subschemas hold, so each combination of those that matter becomes an alternative of its own.
 */
final class Unevaluated {
    private static final int MAX_CASES = 256;

    /** Members and items that were judged, in a case that a formula tells from others. */
    private record Case(Formula when, Judged judged) {}

    /** What has been judged; patterns and schemas of items in the order of reading. */
    private record Judged(
            boolean isAllMembers,
            List<String> names,
            List<Language> patterns,
            boolean isAllItems,
            int items,
            List<Schema> contained) {
        static final Judged NOTHING = new Judged(false, List.of(), List.of(), false, 0, List.of());

        Judged with(Judged other) {
            return new Judged(
                    isAllMembers || other.isAllMembers,
                    joined(names, other.names),
                    joined(patterns, other.patterns),
                    isAllItems || other.isAllItems,
                    Math.max(items, other.items),
                    joined(contained, other.contained));
        }

        private static <T> List<T> joined(List<T> a, List<T> b) {
            List<T> all = new ArrayList<>(a);
            all.addAll(b);
            return all;
        }
    }

    private final SchemaCompiler compiler;
    private final Formulas formulas;

    Unevaluated(SchemaCompiler compiler, Formulas formulas) {
        this.compiler = compiler;
        this.formulas = formulas;
    }

    Formula members(Scoped scoped) {
        Scoped rest = compiler.single(scoped, "unevaluatedProperties");
        if (rest == null || !scoped.draft().readsBesideRef()) {
            return formulas.isTrue();
        }
        Schema others = compiler.schema(rest);
        List<Formula> alternatives = new ArrayList<>();
        for (Case one : cases(scoped, "unevaluatedProperties")) {
            Formula condition = formulas.isTrue();
            if (!one.judged().isAllMembers()) {
                Schema free = compiler.lazily(formulas::isTrue);
                Map<String, Schema> named = new LinkedHashMap<>();
                one.judged().names().forEach(name -> named.put(name, free));
                List<Atom.KeyPattern> patterns = new ArrayList<>();
                one.judged().patterns().forEach(keys -> patterns.add(new Atom.KeyPattern(keys, free)));
                condition = formulas.atom(new Atom.Members(named, patterns, others));
            }
            alternatives.add(formulas.and(one.when(), condition));
        }
        return formulas.or(alternatives);
    }

    Formula items(Scoped scoped) {
        Scoped rest = compiler.single(scoped, "unevaluatedItems");
        if (rest == null || !scoped.draft().readsBesideRef()) {
            return formulas.isTrue();
        }
        Schema others = compiler.schema(rest);
        List<Formula> alternatives = new ArrayList<>();
        for (Case one : cases(scoped, "unevaluatedItems")) {
            Formula condition = formulas.isTrue();
            if (!one.judged().isAllItems()) {
                Schema free = compiler.lazily(formulas::isTrue);
                List<Schema> first = new ArrayList<>();
                for (int i = 0; i < one.judged().items(); i++) {
                    first.add(free);
                }
                List<Schema> contained = one.judged().contained();
                Schema further = contained.isEmpty()
                        ? others
                        : compiler.lazily(() -> {
                            Formula any = others.formula();
                            for (Schema schema : contained) {
                                any = formulas.or(any, schema.formula());
                            }
                            return any;
                        });
                condition = formulas.atom(new Atom.Items(first, further));
            }
            alternatives.add(formulas.and(one.when(), condition));
        }
        return formulas.or(alternatives);
    }

    /** The cases of one schema, which exclude each other; {@code without} is the keyword that asks. */
    private List<Case> cases(Scoped scoped, String without) {
        List<Case> all = new ArrayList<>();
        all.add(new Case(formulas.isTrue(), Judged.NOTHING));
        if (!scoped.node().isObject()) {
            return all;
        }
        Judged own = own(scoped, without);
        all = product(scoped, all, List.of(new Case(formulas.isTrue(), own)));
        for (Scoped target : compiler.references(scoped)) {
            all = product(scoped, all, cases(target, ""));
        }
        for (Scoped part : compiler.list(scoped, "allOf")) {
            all = product(scoped, all, cases(part, ""));
        }
        for (String keyword : List.of("anyOf", "oneOf")) {
            for (Scoped part : compiler.list(scoped, keyword)) {
                all = product(scoped, all, whereItHolds(part));
            }
        }
        Scoped condition = compiler.single(scoped, "if");
        if (condition != null) {
            all = product(scoped, all, conditional(scoped, condition));
        }
        for (Map.Entry<String, Scoped> entry : compiler.dependentSchemas(scoped).entrySet()) {
            Formula has = compiler.has(entry.getKey());
            List<Case> dependent = new ArrayList<>(narrowed(cases(entry.getValue(), ""), has));
            dependent.add(new Case(formulas.not(has), Judged.NOTHING));
            all = product(scoped, all, dependent);
        }
        return all;
    }

    private List<Case> conditional(Scoped scoped, Scoped condition) {
        Formula is = compiler.formula(condition);
        Scoped then = compiler.single(scoped, "then");
        Scoped otherwise = compiler.single(scoped, "else");
        List<Case> both = narrowed(cases(condition, ""), is);
        if (then != null) {
            both = product(scoped, both, cases(then, ""));
        }
        List<Case> all = new ArrayList<>(both);
        List<Case> not = List.of(new Case(formulas.not(is), Judged.NOTHING));
        all.addAll(otherwise == null ? not : product(scoped, not, cases(otherwise, "")));
        return all;
    }

    private List<Case> whereItHolds(Scoped part) {
        Formula holds = compiler.formula(part);
        List<Case> cases = cases(part, "");
        boolean isNothing = cases.stream().allMatch(one -> one.judged().equals(Judged.NOTHING));
        if (isNothing) {
            return List.of(new Case(formulas.isTrue(), Judged.NOTHING));
        }
        List<Case> all = new ArrayList<>(narrowed(cases, holds));
        all.add(new Case(formulas.not(holds), Judged.NOTHING));
        return all;
    }

    private List<Case> narrowed(List<Case> cases, Formula when) {
        List<Case> all = new ArrayList<>();
        for (Case one : cases) {
            Formula both = formulas.and(one.when(), when);
            if (!both.isFalse()) {
                all.add(new Case(both, one.judged()));
            }
        }
        return all;
    }

    private List<Case> product(Scoped scoped, List<Case> some, List<Case> others) {
        List<Case> all = new ArrayList<>();
        for (Case one : some) {
            for (Case other : others) {
                Formula both = formulas.and(one.when(), other.when());
                if (!both.isFalse()) {
                    all.add(new Case(both, one.judged().with(other.judged())));
                }
            }
        }
        if (all.size() > MAX_CASES) {
            throw SchemaCompiler.refused(
                    scoped, "unevaluatedProperties", "too many combinations of subschemas decide what is evaluated.");
        }
        return all;
    }

    /** What the keywords of a schema itself judge. */
    private Judged own(Scoped scoped, String without) {
        boolean isAllMembers = scoped.keyword("additionalProperties") != null
                || (scoped.keyword("unevaluatedProperties") != null && !without.equals("unevaluatedProperties"));
        List<String> names = List.copyOf(compiler.keysOf(scoped, "properties"));
        List<Language> patterns = new ArrayList<>();
        for (String expression : compiler.keysOf(scoped, "patternProperties")) {
            patterns.add(compiler.pattern(scoped, "patternProperties", expression));
        }
        boolean isAllItems = compiler.otherItems(scoped) != null
                || (scoped.keyword("unevaluatedItems") != null && !without.equals("unevaluatedItems"));
        List<Schema> contained = new ArrayList<>();
        Scoped contains = compiler.single(scoped, "contains");
        if (contains != null && scoped.draft() == Draft.DRAFT_2020) {
            contained.add(compiler.schema(contains));
        }
        return new Judged(
                isAllMembers,
                names,
                patterns,
                isAllItems,
                compiler.firstItems(scoped).size(),
                contained);
    }
}
