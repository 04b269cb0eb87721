"""Structured output and tools as Python's frameworks ask for them by default. usage: frameworks.py URL [MODEL]"""
import asyncio
import os
import sys
from typing import Literal, Optional

os.environ["OPENAI_API_KEY"] = "unused"
os.environ["OPENAI_BASE_URL"] = sys.argv[1] + "/v1"
os.environ["OPENAI_AGENTS_DISABLE_TRACING"] = "1"
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

from openai import OpenAI, pydantic_function_tool
from pydantic import BaseModel, Field

MODEL = sys.argv[2] if len(sys.argv) > 2 else "demo"
ASKED = "Order two red apples for Ada."


class Line(BaseModel):
    product: str = Field(description="What is bought", max_length=40)
    quantity: int = Field(ge=1, le=99)


class Order(BaseModel):
    """An order of a customer."""

    customer: str = Field(max_length=40)
    colour: Literal["red", "green"]
    lines: list[Line] = Field(min_length=1, max_length=3)
    note: Optional[str] = Field(max_length=40)


def openai_parses_a_response_format():
    done = OpenAI().chat.completions.parse(
        model=MODEL, messages=[{"role": "user", "content": ASKED}], response_format=Order, temperature=0
    )
    assert isinstance(done.choices[0].message.parsed, Order), done


def openai_streams_a_response_format():
    with OpenAI().chat.completions.stream(
        model=MODEL, messages=[{"role": "user", "content": ASKED}], response_format=Order, temperature=0
    ) as stream:
        events = {event.type for event in stream}
        done = stream.get_final_completion()
    assert "content.delta" in events, events
    assert isinstance(done.choices[0].message.parsed, Order), done


def openai_parses_a_text_format_of_responses():
    done = OpenAI().responses.parse(model=MODEL, input=ASKED, text_format=Order, temperature=0)
    assert isinstance(done.output_parsed, Order), done


def openai_parses_a_strict_tool():
    done = OpenAI().chat.completions.parse(
        model=MODEL,
        messages=[{"role": "user", "content": ASKED}],
        tools=[pydantic_function_tool(Order)],
        tool_choice="required",
        temperature=0,
    )
    call = done.choices[0].message.tool_calls[0].function
    assert isinstance(call.parsed_arguments, Order), done


def langchain_gives_structured_output():
    from langchain_openai import ChatOpenAI

    given = ChatOpenAI(model=MODEL, temperature=0).with_structured_output(Order).invoke(ASKED)
    assert isinstance(given, Order), given


def langchain_binds_tools():
    from langchain_core.tools import tool
    from langchain_openai import ChatOpenAI

    @tool
    def weather(city: str, days: int) -> str:
        """The weather of a city for some days."""
        return "sunny"

    model = ChatOpenAI(model=MODEL, temperature=0)
    for strict in (None, True):
        for choice in ("any", "weather"):
            calls = model.bind_tools([weather], tool_choice=choice, strict=strict).invoke("Weather in Rome?").tool_calls
            assert calls and calls[0]["name"] == "weather", calls
            assert set(calls[0]["args"]) == {"city", "days"}, calls
    model.bind_tools([weather], strict=True).invoke("Hello!")


def instructor_makes_a_model():
    import instructor

    order = instructor.from_openai(OpenAI()).chat.completions.create(
        model=MODEL, response_model=Order, messages=[{"role": "user", "content": ASKED}], max_retries=0, temperature=0
    )
    assert isinstance(order, Order), order


def pydantic_ai_makes_a_model():
    from pydantic_ai import Agent, NativeOutput
    from pydantic_ai.models.openai import OpenAIChatModel

    for output in (Order, NativeOutput(Order)):
        done = Agent(OpenAIChatModel(MODEL), output_type=output, model_settings={"temperature": 0}).run_sync(ASKED)
        assert isinstance(done.output, Order), done


def openai_agents_make_a_model():
    from agents import Agent, ModelSettings, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, function_tool
    from openai import AsyncOpenAI

    @function_tool
    def stock(product: str) -> int:
        """How many of a product are there."""
        return 7

    async def run():
        for model in (OpenAIResponsesModel, OpenAIChatCompletionsModel):
            agent = Agent(
                name="clerk",
                instructions="Answer shortly.",
                model=model(MODEL, AsyncOpenAI()),
                output_type=Order,
                model_settings=ModelSettings(temperature=0),
            )
            done = await Runner.run(agent, ASKED, max_turns=1)
            assert isinstance(done.final_output, Order), done
            asking = Agent(
                name="asker",
                model=model(MODEL, AsyncOpenAI()),
                tools=[stock],
                tool_use_behavior="stop_on_first_tool",
                model_settings=ModelSettings(temperature=0, tool_choice="required"),
            )
            done = await Runner.run(asking, "How many apples are there?", max_turns=2)
            assert done.final_output == 7 or done.final_output == "7", done.final_output

    asyncio.run(run())


def llama_index_makes_a_model():
    from llama_index.core.llms import ChatMessage
    from llama_index.llms.openai_like import OpenAILike

    llm = OpenAILike(
        model=MODEL,
        api_base=os.environ["OPENAI_BASE_URL"],
        api_key="unused",
        is_chat_model=True,
        is_function_calling_model=True,
        temperature=0,
    )
    given = llm.as_structured_llm(Order).chat([ChatMessage(role="user", content=ASKED)])
    assert isinstance(given.raw, Order), given


def litellm_completes_with_a_response_format():
    import litellm

    done = litellm.completion(
        model="openai/" + MODEL, messages=[{"role": "user", "content": ASKED}], response_format=Order, temperature=0
    )
    Order.model_validate_json(done.choices[0].message.content)


failed = []
for name, test in list(globals().items()):
    if callable(test) and getattr(test, "__module__", "") == "__main__" and "_" in name:
        try:
            test()
            print("passed", name, flush=True)
        except Exception as failure:  # the next one shall be tried, too
            failed.append(name)
            print("FAILED", name, type(failure).__name__, str(failure)[:600], flush=True)
sys.exit(1 if failed else 0)
