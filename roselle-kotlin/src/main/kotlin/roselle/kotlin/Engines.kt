package roselle.kotlin

import java.util.concurrent.Executors
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.channels.awaitClose
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.buffer
import kotlinx.coroutines.flow.callbackFlow
import kotlinx.coroutines.flow.collect
import kotlinx.coroutines.flow.filter
import kotlinx.coroutines.flow.map
import kotlinx.coroutines.runInterruptible
import roselle.api.FinishReason
import roselle.api.GenerationEvent
import roselle.api.GenerationRequest
import roselle.api.GenerationRequestBuilder
import roselle.api.Usage
import roselle.engine.Engine
import roselle.engine.EngineConfig

/** Waits on virtual threads, so that a coroutine that waits for an engine holds no thread of its dispatcher. */
@PublishedApi
internal val waiting: CoroutineDispatcher =
    Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("roselle-kotlin-", 0).factory()).asCoroutineDispatcher()

/** Opens an engine without holding the caller's thread; [Engine.close] returns all that it holds. */
suspend fun openEngine(config: EngineConfig): Engine = runInterruptible(waiting) { Engine.open(config) }

/**
 * A request, built in place:
 * ```
 * request { user("Tell me a story about a fox."); temperature(0.0); maxTokens(200) }
 * ```
 */
fun request(configure: GenerationRequestBuilder.() -> Unit): GenerationRequest =
    GenerationRequest.builder().apply(configure).build()

/**
 * The events of a request as they happen, [GenerationEvent.Failed] included. Each collection submits the request anew; its end, by
 * cancellation too, frees the request's place in the batch within a step.
 *
 * The engine never waits for who collects: what is not collected yet is kept, at most as much as the answer may have.
 *
 * @throws roselle.api.InvalidRequestException where it is collected, if the request is refused
 * @throws roselle.api.CapacityException where it is collected, if the queue is full
 */
fun Engine.events(request: GenerationRequest): Flow<GenerationEvent> = callbackFlow {
    val generation = submit(request)
    Thread.ofVirtual().name("roselle-kotlin").start {
        try {
            for (event in generation) {
                trySend(event)
            }
            close()
        } catch (failure: Throwable) {
            close(failure)
        }
    }
    awaitClose { generation.close() }
}.buffer(Channel.UNLIMITED)

/**
 * The text of the first answer, piece by piece; of a chat, without thoughts and calls.
 *
 * @throws RuntimeException the library's own, where it is collected, if the request fails
 */
fun Engine.pieces(request: GenerationRequest): Flow<String> =
    events(request).map { textOf(it) }.filter { it.isNotEmpty() }

private fun textOf(event: GenerationEvent): String = when (event) {
    is GenerationEvent.TokenGenerated -> if (event.choice() == 0) event.text() else ""
    is GenerationEvent.ChoiceEnded -> if (event.choice() == 0) event.text() else ""
    is GenerationEvent.Failed -> throw event.exception()
    else -> ""
}

/**
 * A whole answer: the first choice of a request.
 *
 * @property text what the model said, of a chat without thoughts and calls
 * @property thoughts what it thought before
 * @property calls of tools, complete ones
 */
data class Answer(
    val text: String,
    val thoughts: String,
    val calls: List<GenerationEvent.ToolCall>,
    val reason: FinishReason,
    val usage: Usage,
)

/** Waits for the whole answer; cancellation of the coroutine ends the generation. */
suspend fun Engine.answer(request: GenerationRequest): Answer {
    val text = StringBuilder()
    val thoughts = StringBuilder()
    val calls = ArrayList<GenerationEvent.ToolCall>()
    var finished: GenerationEvent.Finished? = null
    events(request).collect { event ->
        text.append(textOf(event))
        when (event) {
            is GenerationEvent.Reasoning -> if (event.choice() == 0) thoughts.append(event.text())
            is GenerationEvent.ToolCall -> if (event.choice() == 0) calls.add(event)
            is GenerationEvent.Finished -> finished = event
            else -> {}
        }
    }
    val end = checkNotNull(finished) { "a generation ends with Finished or Failed" }
    return Answer(text.toString(), thoughts.toString(), calls, end.reasons().first(), end.usage())
}

/**
 * An answer as a value of a type, which its text is held to: a record, so `@JvmRecord data class` in Kotlin, or what else
 * [roselle.engine.Engine.submit] takes.
 */
suspend inline fun <reified T : Any> Engine.value(request: GenerationRequest): T =
    runInterruptible(waiting) { submit(request, T::class.java).use { it.value() } }
