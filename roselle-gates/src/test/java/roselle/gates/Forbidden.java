package roselle.gates;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noMethods;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.lang.ArchRule;
import java.io.ObjectInputStream;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.util.Set;

/** What production code may not touch, and where the exceptions are. */
final class Forbidden {
    private static final String[] BINDERS = {"roselle.cuda..", "roselle.cpu.machine.."};
    private static final String[] READERS_OF_FOREIGN_TEXT = {
        "roselle.jinja..", "roselle.grammar..", "roselle.tokenizer.."
    };
    private static final Set<String> METHODS_THAT_COMPILE_A_PATTERN =
            Set.of("matches", "replaceAll", "replaceFirst", "split", "splitWithDelimiters");

    static final ArchRule NATIVE_BINDING = noClasses()
            .that()
            .resideOutsideOfPackages(BINDERS)
            .should()
            .dependOnClassesThat()
            .belongToAnyOf(Linker.class, SymbolLookup.class)
            .orShould()
            .callMethodWhere(calls(System.class, Set.of("load", "loadLibrary")))
            .as("only roselle.cuda and roselle.cpu.machine bind native functions")
            .allowEmptyShould(true);

    static final ArchRule NATIVE_METHODS = noMethods()
            .should()
            .haveModifier(JavaModifier.NATIVE)
            .as("there is no JNI library of ours")
            .allowEmptyShould(true);

    static final ArchRule INTERNALS = noClasses()
            .should()
            .dependOnClassesThat(resideInAnyPackage("sun..", "jdk.internal..", "com.sun..")
                    .and(not(resideInAPackage("com.sun.management")))) // exported and documented by jdk.management
            .as("no class of the JDK's internals");

    static final ArchRule DESERIALIZATION = noClasses()
            .should()
            .dependOnClassesThat()
            .areAssignableTo(ObjectInputStream.class)
            .as("no Java deserialization");

    static final ArchRule LOGGING = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAPackage("java.util.logging..")
            .as("libraries log through System.Logger");

    /** Patterns and subjects come from strangers there, and java.util.regex backtracks without a limit. */
    static final ArchRule PATTERNS = noClasses()
            .that()
            .resideInAnyPackage(READERS_OF_FOREIGN_TEXT)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("java.util.regex..")
            .orShould()
            .callMethodWhere(calls(String.class, METHODS_THAT_COMPILE_A_PATTERN))
            .as("no regular expression of the JDK where text comes from strangers")
            .allowEmptyShould(true);

    static final ArchRule REFLECTION = noClasses()
            .that()
            .resideInAnyPackage(READERS_OF_FOREIGN_TEXT)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("java.lang.reflect..")
            .orShould()
            .callMethodWhere(calls(Class.class, Set.of("forName", "getMethod", "getMethods", "getDeclaredMethods")))
            .as("no reflection where text comes from strangers")
            .allowEmptyShould(true);

    private Forbidden() {}

    private static DescribedPredicate<JavaMethodCall> calls(Class<?> owner, Set<String> methods) {
        return DescribedPredicate.describe(
                "calls " + owner.getSimpleName() + methods,
                call -> call.getTargetOwner().isEquivalentTo(owner)
                        && methods.contains(call.getTarget().getName()));
    }
}
