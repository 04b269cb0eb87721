package roselle.gates;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.FieldModel;
import java.lang.classfile.MethodModel;
import java.lang.classfile.constantpool.ClassEntry;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.module.ModuleDescriptor;
import java.lang.reflect.AccessFlag;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What programs compiled against our jars are linked to: a line for each type, method, constructor and field that is exported to everyone.
 *
 * <p>A line has what a linker asks for, erased types and the flags that matter; of sealed types also what they permit, because a
 * {@code switch} over them names every case.
 */
final class ApiSignatures {
    private static final Set<AccessFlag> TOLD =
            Set.of(AccessFlag.STATIC, AccessFlag.ABSTRACT, AccessFlag.FINAL, AccessFlag.PROTECTED);

    private final Set<String> lines = new TreeSet<>();
    private final Path classes;

    private ApiSignatures(Path classes) {
        this.classes = classes;
    }

    /** The lines of a folder of classes: of the packages that its module exports to all, or of all where there is no module. */
    static Set<String> of(Path classes) {
        var signatures = new ApiSignatures(classes);
        Optional<Set<String>> exported = signatures.exported();
        try (Stream<Path> files = Files.walk(classes)) {
            files.filter(file -> file.toString().endsWith(".class"))
                    .filter(file -> !file.getFileName().toString().equals("module-info.class"))
                    .filter(file -> exported.map(packages -> packages.contains(signatures.packageOf(file)))
                            .orElse(true))
                    .forEach(signatures::read);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        return signatures.lines;
    }

    private String packageOf(Path file) {
        return classes.relativize(file.getParent()).toString().replace('/', '.');
    }

    private Optional<Set<String>> exported() {
        Path description = classes.resolve("module-info.class");
        if (!Files.exists(description)) {
            return Optional.empty();
        }
        try (InputStream in = Files.newInputStream(description)) {
            return Optional.of(ModuleDescriptor.read(in).exports().stream()
                    .filter(export -> !export.isQualified())
                    .map(ModuleDescriptor.Exports::source)
                    .collect(Collectors.toSet()));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private void read(Path file) {
        ClassModel type;
        try {
            type = ClassFile.of().parse(file);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        String name = name(type.thisClass().asSymbol());
        if (!isVisible(file, type)) {
            return;
        }
        lines.add(name + " = " + kind(type) + parents(type) + permitted(type));
        for (FieldModel field : type.fields()) {
            if (isOpen(field.flags().flags())) {
                lines.add(name + "." + field.fieldName().stringValue() + " : " + name(field.fieldTypeSymbol())
                        + flags(field.flags().flags()));
            }
        }
        for (MethodModel method : type.methods()) {
            if (isOpen(method.flags().flags())) {
                lines.add(name + "." + method.methodName().stringValue() + signature(method.methodTypeSymbol())
                        + flags(method.flags().flags()));
            }
        }
    }

    /** Public, and within public types. */
    private boolean isVisible(Path file, ClassModel type) {
        Optional<Set<AccessFlag>> asMember = type.findAttribute(Attributes.innerClasses())
                .flatMap(inner -> inner.classes().stream()
                        .filter(entry -> entry.innerClass().equals(type.thisClass()))
                        .findFirst())
                .map(entry -> entry.flags());
        if (asMember.isEmpty()) {
            return type.flags().has(AccessFlag.PUBLIC);
        }
        String name = file.getFileName().toString();
        int dollar = name.lastIndexOf('$');
        return asMember.get().contains(AccessFlag.PUBLIC)
                && dollar > 0
                && isVisible(file.resolveSibling(name.substring(0, dollar) + ".class"));
    }

    private boolean isVisible(Path file) {
        try {
            return isVisible(file, ClassFile.of().parse(file));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private static boolean isOpen(Set<AccessFlag> flags) {
        return !flags.contains(AccessFlag.SYNTHETIC)
                && (flags.contains(AccessFlag.PUBLIC) || flags.contains(AccessFlag.PROTECTED));
    }

    private static String kind(ClassModel type) {
        var words = new ArrayList<String>();
        if (type.flags().has(AccessFlag.FINAL)) {
            words.add("final");
        }
        if (type.flags().has(AccessFlag.ANNOTATION)) {
            words.add("annotation");
        } else if (type.flags().has(AccessFlag.INTERFACE)) {
            words.add("interface");
        } else {
            words.add(type.flags().has(AccessFlag.ABSTRACT) ? "abstract class" : "class");
        }
        return String.join(" ", words);
    }

    private static String parents(ClassModel type) {
        List<String> parents = Stream.concat(type.superclass().stream(), type.interfaces().stream())
                .map(ClassEntry::asSymbol)
                .map(ApiSignatures::name)
                .filter(parent -> !parent.equals("Object"))
                .toList();
        return parents.isEmpty() ? "" : " < " + String.join(", ", parents);
    }

    private static String permitted(ClassModel type) {
        return type.findAttribute(Attributes.permittedSubclasses())
                .map(cases -> cases.permittedSubclasses().stream()
                        .map(each -> name(each.asSymbol()))
                        .collect(Collectors.joining(", ", " permits ", "")))
                .orElse("");
    }

    private static String signature(MethodTypeDesc type) {
        return type.parameterList().stream().map(ApiSignatures::name).collect(Collectors.joining(",", "(", ")")) + " : "
                + name(type.returnType());
    }

    private static String flags(Set<AccessFlag> flags) {
        return flags.stream()
                .filter(TOLD::contains)
                .map(flag -> " " + flag.name().toLowerCase(java.util.Locale.ROOT))
                .sorted()
                .collect(Collectors.joining());
    }

    private static String name(ClassDesc type) {
        if (type.isArray()) {
            return name(type.componentType()) + "[]";
        }
        if (type.isPrimitive()) {
            return type.displayName();
        }
        String descriptor = type.descriptorString();
        String name = descriptor.substring(1, descriptor.length() - 1).replace('/', '.');
        return name.startsWith("java.lang.") && name.lastIndexOf('.') == 9 ? name.substring(10) : name;
    }
}
