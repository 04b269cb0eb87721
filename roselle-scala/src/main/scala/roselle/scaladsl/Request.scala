package roselle.scaladsl

import roselle.api.ChatMessage
import roselle.api.GenerationRequest
import roselle.api.ResponseFormat
import roselle.api.SamplingParameters
import roselle.api.StopConditions

import scala.jdk.CollectionConverters.*

/** Requests with options by name; what is left out is the library's default. Others are made with `GenerationRequest.builder`. */
object Request:
  /** A question to the model, alone or behind a system message.
    *
    * {{{
    * Request.chat("Tell me a story about a fox.", temperature = 0, maxTokens = 200)
    * }}}
    */
  def chat(
      question: String,
      system: String = "",
      temperature: Double = SamplingParameters.DEFAULT.temperature,
      topK: Int = SamplingParameters.DEFAULT.topK,
      topP: Double = SamplingParameters.DEFAULT.topP,
      minP: Double = SamplingParameters.DEFAULT.minP,
      seed: Option[Long] = None,
      maxTokens: Int = StopConditions.REST_OF_CONTEXT,
      stop: Seq[String] = Nil,
      format: ResponseFormat = ResponseFormat.TEXT,
      adapter: String = ""
  ): GenerationRequest =
    val before = if system.isEmpty then Nil else List(ChatMessage.system(system))
    val builder = GenerationRequest
      .builder()
      .temperature(temperature)
      .topK(topK)
      .topP(topP)
      .minP(minP)
      .maxTokens(maxTokens)
      .stopStrings(stop.asJava)
      .format(format)
      .adapter(adapter)
    (before :+ ChatMessage.user(question)).foreach(builder.message)
    seed.foreach(builder.seed)
    builder.build()
