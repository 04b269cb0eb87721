package roselle.kotlin

import java.nio.file.Path
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.take
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import org.assertj.core.api.Assertions.assertThat
import org.assertj.core.api.Assertions.assertThatThrownBy
import org.junit.jupiter.api.AfterAll
import org.junit.jupiter.api.BeforeAll
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test
import roselle.api.CapacityException
import roselle.api.FinishReason
import roselle.api.GenerationEvent
import roselle.api.InvalidRequestException
import roselle.engine.Engine
import roselle.engine.EngineConfig
import roselle.hub.BundledModel

/** Kotlin's ways to ask, with the demo model. */
@Tag("long")
class EnginesTest {
    @JvmRecord
    data class Animal(val name: String, val legs: Int)

    companion object {
        private lateinit var engine: Engine

        @BeforeAll
        @JvmStatic
        fun open() = runBlocking<Unit> {
            engine = openEngine(EngineConfig.of(BundledModel.DEMO.unpackInto(Path.of("target", "models"))))
        }

        @AfterAll
        @JvmStatic
        fun close() = engine.close()
    }

    private fun sum(first: Int, second: Int) = request {
        user("What is $first + $second?")
        temperature(0.0)
        maxTokens(24)
    }

    private fun story(tokens: Int) = request {
        user("Tell me a story about a fox.")
        temperature(0.0)
        ignoreEos(true)
        maxTokens(tokens)
    }

    @Test
    fun answersWholeAndInPieces() = runBlocking<Unit> {
        val answer = engine.answer(sum(12, 30))
        assertThat(answer.text).contains("42")
        assertThat(answer.reason).isEqualTo(FinishReason.STOP)
        assertThat(answer.usage.completionTokens()).isPositive()
        assertThat(engine.pieces(sum(12, 30)).toList().joinToString("")).isEqualTo(answer.text)
    }

    @Test
    fun aFlowMayBeCollectedAgain() = runBlocking<Unit> {
        val pieces = engine.pieces(sum(12, 30))
        assertThat(pieces.toList()).isEqualTo(pieces.toList())
    }

    @Test
    fun manyCoroutinesOfOneThreadShareABatch() = runBlocking<Unit> {
        val answers = coroutineScope { (1..20).map { async { engine.answer(sum(it, 10)).text } }.awaitAll() }
        for ((index, text) in answers.withIndex()) {
            assertThat(text).contains("${index + 11}")
        }
    }

    @Test
    fun theEndOfACollectionEndsTheGeneration() = runBlocking<Unit> {
        assertThat(engine.pieces(story(400)).take(3).toList()).hasSize(3)
        awaitIdle()
    }

    @Test
    fun cancellationEndsTheGeneration() = runBlocking<Unit> {
        val waiting = launch(Dispatchers.Default) { engine.answer(story(400)) }
        engine.pieces(story(4)).first() // steps are made, of both
        waiting.cancelAndJoin()
        awaitIdle()
    }

    /** Whether nothing is left to do: the engine answers a request of one token, then counts what runs. */
    private suspend fun awaitIdle() {
        var status = engine.status()
        while (status.running() + status.waiting() > 0) {
            engine.answer(story(1))
            status = engine.status()
        }
        assertThat(status.isAlive).isTrue()
    }

    @Test
    fun anAnswerIsAValueOfAType() = runBlocking<Unit> {
        val animal: Animal = engine.value(request {
            user("Name an animal.")
            temperature(0.0)
            maxTokens(60)
        })
        assertThat(animal.name).isNotNull()
    }

    @Test
    fun refusalsAreThrownWhereTheyAreCollected() {
        val flow = engine.pieces(request { user("x"); adapter("none") })
        assertThatThrownBy { runBlocking { flow.toList() } }.isInstanceOf(InvalidRequestException::class.java)
    }

    @Test
    fun failuresAreEventsAndExceptions() = runBlocking<Unit> {
        val late = request {
            user("Tell me a story about a fox.")
            ignoreEos(true)
            deadline(java.time.Duration.ofNanos(1))
        }
        assertThat(engine.events(late).toList().last()).isInstanceOf(GenerationEvent.Failed::class.java)
        assertThatThrownBy { runBlocking { engine.answer(late) } }.isInstanceOf(CapacityException::class.java)
    }
}
