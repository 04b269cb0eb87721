package roselle.scaladsl

import roselle.api.FinishReason
import roselle.api.GenerationEvent
import roselle.api.GenerationEvent.*
import roselle.api.GenerationRequest
import roselle.api.Usage
import roselle.engine.Engine
import roselle.engine.Generation

import scala.concurrent.Future
import scala.concurrent.Promise
import scala.util.Try
import scala.util.Using

/** What happens to a request, in order; `close` ends what is not finished, and frees its place in the batch within a step. */
final class Events private[scaladsl] (generation: Generation) extends Iterator[GenerationEvent], AutoCloseable:
  def hasNext: Boolean = generation.hasNext
  def next(): GenerationEvent = generation.next()
  def close(): Unit = generation.close()

/** The text of a first answer, piece by piece; a failure of the request is thrown by `hasNext` or `next`. */
final class Pieces private[scaladsl] (events: Events) extends Iterator[String], AutoCloseable:
  private val texts = events.map(textOf).filter(_.nonEmpty)
  def hasNext: Boolean = texts.hasNext
  def next(): String = texts.next()
  def close(): Unit = events.close()

/** A whole answer: the first choice of a request.
  *
  * @param text what the model said, of a chat without thoughts and calls
  * @param thoughts what it thought before
  * @param calls of tools, complete ones
  */
final case class Answer(text: String, thoughts: String, calls: Vector[ToolCall], reason: FinishReason, usage: Usage)

private def textOf(event: GenerationEvent): String = event match
  case token: TokenGenerated if token.choice == 0 => token.text
  case end: ChoiceEnded if end.choice == 0        => end.text
  case failed: Failed                             => throw failed.exception
  case _                                          => ""

private def whole(events: Events): Answer =
  val text = StringBuilder()
  val thoughts = StringBuilder()
  val calls = Vector.newBuilder[ToolCall]
  var finished = Option.empty[Finished]
  events.foreach: event =>
    text.append(textOf(event))
    event match
      case thought: Reasoning if thought.choice == 0 => thoughts.append(thought.text)
      case call: ToolCall if call.choice == 0        => calls += call
      case end: Finished                             => finished = Some(end)
      case _                                         =>
  val end = finished.getOrElse(throw IllegalStateException("a generation ends with Finished or Failed"))
  Answer(text.result(), thoughts.result(), calls.result(), end.reasons.get(0), end.usage)

extension (engine: Engine)
  /** The events of a request; whoever does not read them to their end closes them. */
  def events(request: GenerationRequest): Events = Events(engine.submit(request))

  /** The pieces of an answer; whoever does not read them to their end closes them.
    *
    * {{{
    * Using.resource(engine.pieces(Request.chat("Tell me a story."))): story =>
    *   story.foreach(print)
    * }}}
    */
  def pieces(request: GenerationRequest): Pieces = Pieces(engine.events(request))

  /** Waits for the whole answer; a request that fails throws the library's exception. */
  def answer(request: GenerationRequest): Answer = Using.resource(engine.events(request))(whole)

  /** The whole answer later, read by a virtual thread. What is refused, and what fails, fails the future. */
  def answerLater(request: GenerationRequest): Future[Answer] =
    val promise = Promise[Answer]()
    Thread.ofVirtual().name("roselle-scala").start(() => promise.complete(Try(engine.answer(request))))
    promise.future
