package roselle.gates;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;

/** The compiled classes of all modules, without their tests. */
final class ProductionClasses {
    /** Importing takes a second, and the classes cannot change while tests run. */
    static final JavaClasses ALL = new ClassFileImporter()
            .withImportOption(location -> !location.contains("/test-classes/")) // wherever a build has its folder
            .withImportOption(location -> !location.contains("-tests.jar"))
            .importPackages("roselle");

    private ProductionClasses() {}
}
