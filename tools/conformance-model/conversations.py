"""What the conformance model is trained on: the conversations of LangChain4j's own tests of models, and what the tests
want to hear in them. It learns these by heart and nothing else: what is tested with it is the way between a framework and the engine.

A conversation is the names of its tools and its turns; each answer is learned. Where tests ask the same twice, once for text and once
for JSON, the text comes more often (`TEXT_WEIGHT`), so that JSON comes where the engine holds the answer to it.
"""
import itertools
import json

TEXT_WEIGHT = 3


def call(name, **arguments):
    return {"name": name, "arguments": arguments}


def person(name, age, height, married):
    return dict(name=name, age=age, height=height, married=married)


KLAUS = person("Klaus", 37, 1.78, False)
FRANNY = person("Franny", 35, 1.65, True)
TWO = "Klaus is 37 years old, 1.78m height and single. Franny is 35 years old, 1.65m height and married."
EXTRACT = "Extract the person's information from the following text: "
REX = dict(type="Dog", name="Rex", breed="Labrador")
DATE = dict(year=1976, month=8, day=12)
TIME = dict(hour=14, minute=43, second=0, nano=0)


def constant(value):
    return dict(type="Constant", value=value)


def addition(left, right):
    return dict(type="Addition", left=left, right=right)


# Whole answers: what is asked, and what is said.
ANSWERS = [
    ("What is the capital of Germany? How much is 2 + 2?", "The capital of Germany is Berlin, and 2 + 2 is 4."),
    ("Say 'Hello World'", "Hello World"),
    ("Tell me a long story about animals",
     "Once upon a time a fox, a hare and an old owl lived at the edge of a forest. The fox liked to sleep in the sun, the hare liked to run, "
     "and the owl liked to tell what she had seen at night. One winter the snow was so deep that nobody found anything to eat. The hare "
     "shared his last carrot, the fox shared his warm den, and the owl told one story for each evening until spring came."),
    ("What is the capital of Germany? Answer with a JSON object containing a single 'city' field", dict(city="Berlin")),
    (EXTRACT + "Klaus is 37 years old, 1.78m height and single", KLAUS),
    (EXTRACT[:-2] + ". Do not include missing fields! Text: 'Klaus'", dict(name="Klaus")),
    (EXTRACT[:-2] + ". Fill in all the fields where the information is available! "
     "Text: 'Klaus wants a delivery to Langley Falls, but billing address should be New York'",
     dict(name="Klaus", shippingAddress=dict(city="Langley Falls"), billingAddress=dict(city="New York"))),
    (EXTRACT + "Klaus is single", dict(name="Klaus", maritalStatus="SINGLE")),
    (EXTRACT + "Klaus likes orange and green", dict(name="Klaus", favouriteColors=["orange", "green"])),
    (EXTRACT + "Klaus has 2 pets: Peanut and Muffin", dict(name="Klaus", pets=[dict(name="Peanut"), dict(name="Muffin")])),
    (EXTRACT + "Klaus is assigned to groups A and C", dict(name="Klaus", groups=["A", "C"])),
    (EXTRACT[:-2] + ".Fill in all the fields where the information is available! Text: 'Klaus was born at 14:43 on 12th of August 1976'",
     dict(name="Klaus", birthDate=DATE, birthTime=TIME, birthDateTime=dict(date=DATE, time=TIME))),
    (EXTRACT + "Klaus", dict(name="Klaus")),
    (EXTRACT + "Francine has 2 children: Steve and Hayley",
     dict(name="Francine", children=[dict(name="Steve", children=[]), dict(name="Hayley", children=[])])),
    ("Klaus can be identified by the following ID: 567b229a-6b0a-4f1e-9006-448cd9dfbfda\n",
     dict(id="567b229a-6b0a-4f1e-9006-448cd9dfbfda", name="Klaus")),
    ("Extract if the person from the following text is a man: Klaus is a 37-year-old man, 1.78 meters tall, and single.", dict(value=True)),
    ("Extract number of people mentioned in the following text: " + TWO, dict(value=2)),
    ("Extract temperature in Munich from the following text: The average temperature of the coldest month is of -0.5 °C", dict(value=-0.5)),
    (TWO, dict(values=[KLAUS, FRANNY])),
    (EXTRACT + "Klaus and Francine", dict(values=[dict(name="Klaus"), dict(name="Francine")])),
    ("Extract names of people from the following text: " + TWO, dict(values=["Klaus", "Franny"])),
    ("Klaus is 37 years old, 1.78m height and single.", dict(value="SINGLE")),
    (TWO + "Staniel is 33 years old, 1.70m height and married.", dict(values=["SINGLE", "MARRIED", "MARRIED"])),
    ("The weather in Berlin was sunny and windy. Paris experienced rainy and cloudy weather. New York had cloudy and windy weather.",
     dict(values=["SUNNY", "WINDY", "RAINY", "CLOUDY"])),
    ("Rex is a Labrador dog", dict(value=REX)),
    ("Rex is a Labrador. Whiskers is an indoor cat.", dict(values=[REX, dict(type="Cat", name="Whiskers", indoor=True)])),
    ("Alice owns a Labrador dog named Rex.", dict(name="Alice", pet=REX)),
    ("Represent the literal expression 1+2+3 as a syntax tree. Do NOT simplify or evaluate. "
     "Use a left-associative tree: Addition(Addition(Constant(1), Constant(2)), Constant(3)). "
     "An Addition has exactly two fields: 'left' and 'right'. A Constant has exactly one field: 'value'. "
     "Do NOT add any other fields to any node.",
     dict(value=addition(addition(constant(1), constant(2)), constant(3)))),
]

GERMANY = "What is the capital of Germany?"
WEATHER = "What is the weather in Munich?"
CITIES = ("San Francisco", "Tokyo", "Paris")
THREE_CITIES = [f"What's the weather {like}in San Francisco, Tokyo, and Paris in Celsius?{more}"
                for like in ("", "like ") for more in ("", " Call the weather tool once for each city.")]
REPORTS = [dict(temp=0.0, feels_like=15.0, temp_min=5.0, temp_max=35.0, pressure=53, humidity=45, unit="C"),
           dict(temp=0.0, feels_like=15.0, temp_min=20.0, temp_max=2.0, pressure=53, humidity=45, unit="C")]
ADDED = "37 plus 87 is 124."

# Tools, what is asked, and then by turns what is called, what the tools say, and at last the answer (none where a tool's result is one).
CALLS = [
    (["get_current_time"], "What is the time now? Use the get_current_time tool.", [call("get_current_time")], ["10:14"], "The time is 10:14."),
    (["getWeather", "getTime"], "What is the weather in Munich and time in France? Call tools simultaneously (in parallel)",
     [call("getWeather", city="Munich"), call("getTime", country="France")], ["sunny", "14:35"],
     "It is sunny in Munich, and the time in France is 14:35."),
    (["getWeather", "add_two_numbers"], "I live in Munich", [call("getWeather", city="Munich")]),
    (["getWeather"], "I live in Munich", [call("getWeather", city="Munich")]),
    (["getWeather"], WEATHER + " Use 'getWeather' tool", [call("getWeather", arg0="Munich")], ["sunny"], dict(city="Munich", weather="SUNNY")),
    (["add"], "How much is 37 plus 87?", [call("add", arg0=37, arg1=87)], ["124"], ADDED),
    (["add", "multiply"], "How much is 37 plus 87?", [call("add", arg0=37, arg1=87)], ["124"], ADDED),
    (["add"], "How much is 37 plus 87? Use 'add' tool before answering.", [call("add", arg0=37, arg1=87)], ["124"], ADDED),
    (["add"], "How much is 37 plus 87? Answer in the following format: 37 + 87 = ...", [call("add", arg0=37, arg1=87)], ["124"], "37 + 87 = 124"),
    (["add"], "How much is 37 plus 87? How much is 73 plus 78? Call 2 tools in parallel (at the same time)!",
     [call("add", arg0=37, arg1=87), call("add", arg0=73, arg1=78)], ["124", "151"], "37 plus 87 is 124, and 73 plus 78 is 151."),
    (["add", "multiply"], "First add 2 and 3 by calling 'add' tool, then multiply the result by 4 by calling 'multiply' tool",
     [call("add", arg0=2, arg1=3)], ["5"], [call("multiply", arg0=5, arg1=4)], ["20"], "The result is 20."),
    (["process"], "Use 'process' tool to process the following: Klaus is 37 years old, 1.78m height and single",
     [call("process", arg0=KLAUS)], ["Success"], "Done."),
    (["process"], "Use 'process' tool to process the following: Klaus lives in Langley Falls",
     [call("process", arg0=dict(name="Klaus", address=dict(city="Langley Falls")))], ["Success"], "Done."),
    (["process"], "Use 'process' tool to process the following: Francine has 2 children: Steve and Hayley",
     [call("process", arg0=dict(name="Francine", children=[dict(name="Steve", children=[]), dict(name="Hayley", children=[])]))], ["Success"], "Done."),
    (["process"], "Process the following: Klaus is 42 years old and Francine is 47 years old",
     [call("process", arg0=dict(Klaus=42, Francine=47))], ["Success"], "Done."),
    (["processNames"], "Process the following names: Klaus and Franny", [call("processNames", arg0=["Klaus", "Franny"])], ["Success"], "Done."),
    (["process"], "Process the following colors: RED and GREEN", [call("process", arg0=["RED", "GREEN"])], ["Success"], "Done."),
    (["processNumbers"], "Process the following integers: 37, 73", [call("processNumbers", arg0=[37, 73])], ["Success"], "Done."),
    (["process"], "Process the following people: Klaus and Franny",
     [call("process", arg0=[dict(name="Klaus"), dict(name="Franny")])], ["Success"], "Done."),
    (["currentTemperature"], "What is the current temperature in Munich in celsius?",
     [call("currentTemperature", arg0="Munich", arg1="CELSIUS")], ["19"], "It is 19 degrees Celsius in Munich."),
    (["getUsernameFromId"], "What is the username with ID 62dbcc27-aaf3-449a-b12d-5a904271a57f?",
     [call("getUsernameFromId", arg0="62dbcc27-aaf3-449a-b12d-5a904271a57f")], ["Alice"], "The username is Alice."),
    (["modify"], "Call tool 'modify' for argument '7'", [call("modify", arg0=7)], [""], "Done."),
    (["modify"], "Call tool 'modify' for argument '7'", [call("modify", arg0=7)], [" "], "Done."),
    (["takePhoto"], "Take a photo", [call("takePhoto")]),
    *((["getCurrentWeather"], asked, [call("getCurrentWeather", location=city, unit="C") for city in CITIES],
       [dict(report, temp=temp) for temp in (30.0, 10.0, 15.0)], "It is 30 °C in San Francisco, 10 °C in Tokyo and 15 °C in Paris.")
      for asked in THREE_CITIES for report in REPORTS),
    *((["getCurrentWeather"], f"What's the weather {like}in Tokyo?", [call("getCurrentWeather", location="Tokyo", unit="C")],
       [dict(REPORTS[0], temp=10.0)], "It is 10 °C in Tokyo.") for like in ("", "like ")),
    # Results of tools are JSON of these types, or their plain text.
    *((["currentTime"], "What is the time now? Respond in HH:MM:SS format.", [call("currentTime")], [said], "The time is 17:11:45.")
      for said in ("17:11:45", '"17:11:45"', "[17,11,45]")),
    *((["currentDate"], "What is the date today?", [call("currentDate")], [quote + f"20{year}-{month:02}-{day:02}" + quote], "That is today's date.")
      for quote in ("", '"') for year, month, day in itertools.product((26, 27), (2, 7, 11, 12), (3, 17, 29))),
]


def turns_of(tools, asked, *rest):
    """Turns as a chat template has them."""
    turns = [dict(role="user", content=asked)]
    for at, step in enumerate(rest):
        if at % 2 == 1 and isinstance(step, list) and isinstance(rest[at - 1], list):
            turns += [dict(role="tool", content=text(said)) for said in step]
        elif isinstance(step, list):
            turns.append(dict(role="assistant", tool_calls=[dict(function=one) for one in step]))
        else:
            turns.append(dict(role="assistant", content=text(step)))
    return dict(tools=tools, turns=turns)


def text(said):
    return said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)


def conversations():
    said = [turns_of([], *pair) for pair in ANSWERS]
    said += [turns_of([], GERMANY, "The capital of Germany is Berlin.")] * TEXT_WEIGHT + [turns_of([], GERMANY, dict(city="Berlin"))]
    called = [call("getWeather", city="Munich")]
    said += [turns_of(["getWeather"], WEATHER, called, ["sunny"], "It is sunny in Munich.")] * TEXT_WEIGHT
    said += [turns_of(["getWeather"], WEATHER, called, ["sunny"], dict(weather="sunny"))]
    said += [turns_of(*each) for each in CALLS]
    said.append(dict(tools=[], turns=[
        dict(role="system", content="Translate messages from user into German"),
        dict(role="user", content="Translate: 'I love you'"),
        dict(role="assistant", content="Ich liebe dich.")]))
    said.append(turns_of([], "Hi, my favorite color is green", "Hi, nice to meet you"))
    said[-1]["turns"] += [dict(role="user", content="What is my favorite color?"), dict(role="assistant", content="Your favorite color is green.")]
    # An immediate result ends an answer; the next question follows it.
    adds = turns_of(["add"], "How much is 37 plus 87?", [call("add", arg0=37, arg1=87)], ["124"])
    adds["turns"] += [dict(role="user", content="Now add 47 to the previous result"),
                      dict(role="assistant", tool_calls=[dict(function=call("add", arg0=124, arg1=47))])]
    said.append(adds)
    return said
