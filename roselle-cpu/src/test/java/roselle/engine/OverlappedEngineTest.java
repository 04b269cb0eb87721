package roselle.engine;

/** All that an engine does, with steps launched before the tokens of the one before are read. */
class OverlappedEngineTest extends EngineTest {
    @Override
    EngineConfig config() {
        return super.config().with(Overlap.ON);
    }
}
