package roselle.quarkus.deployment;

import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.embedding.EmbeddingModel;
import io.quarkus.arc.deployment.AdditionalBeanBuildItem;
import io.quarkus.arc.deployment.UnremovableBeanBuildItem;
import io.quarkus.deployment.annotations.BuildStep;
import io.quarkus.deployment.builditem.FeatureBuildItem;
import io.quarkus.deployment.builditem.ModuleEnableNativeAccessBuildItem;
import io.quarkus.smallrye.health.deployment.spi.HealthBuildItem;
import roselle.engine.Engine;
import roselle.quarkus.EngineHealth;
import roselle.quarkus.RoselleModels;

/** Makes the models beans, which stay where only frameworks ask for them, and the engine's health a check where there are checks. */
public class RoselleProcessor {
    @BuildStep
    FeatureBuildItem feature() {
        return new FeatureBuildItem("roselle");
    }

    @BuildStep
    AdditionalBeanBuildItem models() {
        return AdditionalBeanBuildItem.unremovableOf(RoselleModels.class);
    }

    @BuildStep
    UnremovableBeanBuildItem askedForByFrameworks() {
        return UnremovableBeanBuildItem.beanTypes(
                ChatModel.class, StreamingChatModel.class, EmbeddingModel.class, Engine.class);
    }

    @BuildStep
    HealthBuildItem health() {
        return new HealthBuildItem(EngineHealth.class.getName(), true);
    }

    /** Has the manifest of the application's jar allow native access, to all of the class path. */
    @BuildStep
    ModuleEnableNativeAccessBuildItem nativeAccess() {
        return new ModuleEnableNativeAccessBuildItem("roselle.cpu");
    }
}
