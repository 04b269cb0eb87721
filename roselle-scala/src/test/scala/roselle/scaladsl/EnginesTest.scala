package roselle.scaladsl

import org.assertj.core.api.Assertions.assertThat
import org.assertj.core.api.Assertions.assertThatThrownBy
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test
import roselle.api.FinishReason
import roselle.api.GenerationRequest
import roselle.api.InvalidRequestException
import roselle.api.ResponseFormat
import roselle.engine.Engine
import roselle.engine.EngineConfig
import roselle.hub.BundledModel

import java.nio.file.Path
import scala.concurrent.Await
import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.Future
import scala.concurrent.duration.Duration
import scala.util.Using

/** Scala's ways to ask, with the demo model. */
@Tag("long")
class EnginesTest:
  private val engine = Engine.open(EngineConfig.of(BundledModel.DEMO.unpackInto(Path.of("target", "models"))))

  @AfterEach
  def close(): Unit = engine.close()

  private def sum(first: Int, second: Int) =
    Request.chat(s"What is $first + $second?", temperature = 0, maxTokens = 24)

  @Test
  def answersWholeAndInPieces(): Unit =
    val answer = engine.answer(sum(12, 30))
    assertThat(answer.text).contains("42")
    assertThat(answer.reason).isEqualTo(FinishReason.STOP)
    assertThat(answer.usage.completionTokens).isPositive
    assertThat(engine.pieces(sum(12, 30)).mkString).isEqualTo(answer.text)

  @Test
  def manyFuturesShareABatch(): Unit =
    val answers = Future.sequence((1 to 20).map(number => engine.answerLater(sum(number, 10))))
    Await.result(answers, Duration.Inf).zipWithIndex.foreach: (answer, index) =>
      assertThat(answer.text).contains(s"${index + 11}")

  @Test
  def closedPiecesEndTheGeneration(): Unit =
    val endless = GenerationRequest
      .builder()
      .user("Tell me a story about a fox.")
      .ignoreEos(true)
      .maxTokens(400)
      .build()
    Using.resource(engine.pieces(endless))(_.take(3).foreach(piece => assertThat(piece).isNotEmpty))
    while engine.status.running + engine.status.waiting > 0 do engine.answer(sum(1, 1))
    assertThat(engine.status.totals.generatedTokens).isLessThan(400)

  @Test
  def optionsAreThoseOfTheLibrary(): Unit =
    val choice = ResponseFormat.Choice(java.util.List.of("red", "blue"))
    val request = Request.chat("Which?", system = "Be short.", seed = Some(7), stop = Seq("."), format = choice)
    assertThat(request).isEqualTo(
      GenerationRequest.builder().system("Be short.").user("Which?").seed(7).stopStrings(java.util.List.of("."))
        .format(choice).build()
    )
    assertThat(engine.answer(request).text).isIn("red", "blue")

  @Test
  def refusalsFailTheFuture(): Unit =
    val refused = engine.answerLater(Request.chat("x", adapter = "none"))
    assertThatThrownBy(() => Await.result(refused, Duration.Inf)).isInstanceOf(classOf[InvalidRequestException])
