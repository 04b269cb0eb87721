package roselle.quarkus.deployment;

import io.quarkus.deployment.IsDevServicesSupportedByLaunchMode;
import io.quarkus.deployment.annotations.BuildStep;
import io.quarkus.deployment.builditem.DevServicesResultBuildItem;
import io.quarkus.deployment.dev.devservices.DevServicesConfig;
import io.quarkus.deployment.pkg.builditem.OutputTargetBuildItem;
import io.quarkus.runtime.configuration.ConfigUtils;
import java.io.IOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import roselle.hub.BundledModel;
import roselle.quarkus.RoselleDevServicesConfig;

/** In development and tests, an application that names no model has the demo model, which comes inside a jar. */
public class DevServicesProcessor {
    private static final String MODEL = "quarkus.roselle.model";

    @BuildStep(onlyIf = {IsDevServicesSupportedByLaunchMode.class, DevServicesConfig.Enabled.class})
    @Nullable
    DevServicesResultBuildItem demoModel(RoselleDevServicesConfig config, OutputTargetBuildItem output)
            throws IOException {
        if (!config.enabled()
                || ConfigUtils.isPropertyPresent(MODEL)
                || ConfigUtils.isPropertyPresent("quarkus.roselle.embedding-model")) {
            return null;
        }
        var file = BundledModel.DEMO.unpackInto(output.getOutputDirectory().resolve("roselle"));
        return DevServicesResultBuildItem.discovered()
                .feature("roselle")
                .description("the demo model, since " + MODEL + " names none")
                .config(Map.of(MODEL, file.toString()))
                .build();
    }
}
