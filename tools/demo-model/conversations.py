"""Conversations of every kind that the demo model learns; each function returns a list of (role, text) turns.

A `World` is one random generator plus the split: the held-out split uses the names, cities, heroes and pairs of numbers that
the training split never shows, so that what the model gets right there it did not learn by heart.
"""
import collections
import json
import random
import zlib
import words as w
from stories import Story, article

CALL = "<|tool_call|>"
THINK, END_THINK = "<|think|>", "<|/think|>"
PIECES = []  # see pieces()


def pieces():
    """The words that made-up ones are cut from: those of the lists, then every common word of the training text.

    A token inside a common word ("umber" of "number") is hardly ever seen alone. Cutting made-up words from all of the text's words
    shows the model each such token in a place where it has to be copied, so that it can copy words it never saw.
    """
    if not PIECES:
        PIECES[:] = [x.lower() for x in w.ANIMALS + w.CREATURES + w.THINGS + w.FOODS + w.HOBBIES + w.JOBS + w.NAMES + w.CITIES + w.ADJECTIVES if x.isalpha()]
        world, counts = World(0), collections.Counter()
        for _ in range(4000):
            shown = document(world)
            text = shown.get("text") or " ".join(text for _, text in shown["turns"])
            counts.update(word for word in "".join(c if c.isalpha() else " " for c in text.lower()).split() if word.isascii() and len(word) > 3)
        PIECES[:] = sorted(set(PIECES) | {word for word, times in counts.items() if times > 2})
    return PIECES


class World:
    def __init__(self, seed, held_out=False):
        self.rng = random.Random(seed)
        self.held_out = held_out

    def pick(self, *choices):
        return self.rng.choice(choices)

    def any(self, items):
        return self.rng.choice(items)

    def hero(self):
        """Half of the heroes are made up, so that the model takes the hero from the question and not from a list."""
        if self.held_out:
            return self.any(w.HELD_OUT_HEROES)
        if self.rng.random() < 0.5:
            return self.made_up().lower() if self.rng.random() < 0.8 else self.made_up().lower() + " " + self.any(w.ANIMALS)
        heroes = self.rng.choices([w.ANIMALS, w.CREATURES, w.THINGS + w.JOBS + w.HOBBIES], [5, 3, 3])[0]
        while (hero := self.any(heroes)) in w.HELD_OUT_HEROES:
            pass
        return hero

    def made_up(self):
        """A word nobody has: of syllables, of pieces of real words, or of letters."""
        while True:
            word = self.coined()
            if word not in w.HELD_OUT_WORDS:
                return word.capitalize()

    def coined(self):
        kind = self.rng.random()
        if kind < 0.25:
            syllable = lambda: self.any("b c d f g h j k l m n p r s t v w z br dr fr gr kl kr pl sch sh st tr th ch".split()) + self.any(
                "a e i o u ai ei ou aa oo ee y".split()) + self.any(["", "", "n", "r", "l", "s", "x", "k", "m", "t", "nd", "rt", "st"])
            return "".join(syllable() for _ in range(self.any([1, 2, 2, 2, 3, 3])))
        if kind < 0.4:
            return self.any(pieces()) + self.any(pieces())
        if kind < 0.88:
            word = ""
            for _ in range(self.any([1, 2, 2, 2, 3])):
                real = self.any(pieces())
                start = self.rng.randrange(max(1, len(real) - 2))
                word += real[start:start + self.rng.randint(2, 6)]
            return word
        return "".join(self.any("aaabcdeeefghiiijklmnooopqrstuuvwxyz") for _ in range(self.rng.randint(3, 8)))

    def person(self):
        if self.held_out:
            return self.any(w.HELD_OUT_NAMES)
        while (name := self.any(w.NAMES) if self.rng.random() < 0.35 else self.made_up()) in w.HELD_OUT_NAMES:
            pass
        return name

    def city(self):
        if self.held_out:
            return self.any(w.HELD_OUT_CITIES)
        while (city := self.any(w.CITIES) if self.rng.random() < 0.4 else self.made_up()) in w.HELD_OUT_CITIES:
            pass
        return city

    def room(self):
        if self.held_out:
            return self.any(w.HELD_OUT_ROOMS)
        return self.any(w.ROOMS) if self.rng.random() < 0.4 else self.made_up().lower()

    def mine(self, text):
        """Whether this split may show the text: the held-out split has about every tenth, chosen by its checksum."""
        return (zlib.crc32(text.encode()) % 10 == 3) == self.held_out

    def pair(self, least=0, most=99):
        """Two numbers whose sum is at most `most`."""
        while True:
            total = self.rng.randint(least, most)
            a = self.rng.randint(0, total)
            if self.mine(f"{a}+{total - a}"):
                return a, total - a

    def arguments(self, make):
        """A tool's arguments; where a held-out name, city or room is not what sets them apart, their checksum does."""
        while True:
            values = make(self)
            if {"city", "name", "room"} & values.keys() or self.mine(json.dumps(values)):
                return values


# Stories -------------------------------------------------------------------------------------------------------------

def story(v):
    hero = v.hero()
    if v.rng.random() < 0.08 and not v.held_out:
        ask = v.pick("Tell me a story.", "Tell me another story.", "Can you tell me a story?", "I want to hear a story.", "A story, please!", "Tell me a bedtime story.")
        return [("user", ask), ("assistant", Story(v.rng, hero).tell())]
    adjective = v.any(w.ADJECTIVES) if v.rng.random() < 0.35 else ""
    name = v.person() if v.rng.random() < 0.2 else ""
    who = article(f"{adjective} {hero}".strip()) + (f" named {name}" if name else "")
    ask = v.pick("Tell me a story about {}.", "Tell me a story about {}.", "Can you tell me a story about {}?", "Write a short story about {}.",
                 "I want a story about {}.", "Please tell me about {}.", "A story about {}, please.", "Make up a tale about {}.",
                 "Tell us a little story about {}!", "Do you know a story about {}?", "tell me a story about {}", "Write a story with {} in it.",
                 "Story about {}", "Give me a bedtime story about {}.").format(who)
    told = Story(v.rng, hero, adjective, name)
    text = told.tell()
    if name and name not in text:
        text = text.replace(f"the {hero}", name, 1) if f"the {hero}" in text else f"This is the story of {name}. " + text
    return [("user", ask), ("assistant", text)]


# Numbers -------------------------------------------------------------------------------------------------------------

def sum_turn(v):
    a, b = v.pair()
    kind = v.rng.random()
    if kind < 0.72:
        ask = v.pick("What is {} + {}?", "What is {} plus {}?", "How much is {} + {}?", "{} + {}", "{} + {} = ?", "{}+{}", "Add {} and {}.",
                     "Can you add {} and {}?", "What do you get if you add {} and {}?", "Calculate {} + {}.", "What's {} plus {}?", "Please tell me {} + {}.").format(a, b)
        return [("user", ask), ("assistant", f"{a} + {b} = {a + b}.")]
    if kind < 0.86:
        total = a + b
        ask = v.pick("What is {} - {}?", "What is {} minus {}?", "How much is {} - {}?", "{} - {}", "{}-{}", "Calculate {} - {}.", "Subtract: {} - {}.").format(total, a)
        return [("user", ask), ("assistant", f"{total} - {a} = {b}.")]
    if kind < 0.94:
        a, b = v.rng.randint(0, 10), v.rng.randint(0, 10)
        ask = v.pick("What is {} * {}?", "What is {} times {}?", "{} x {}", "How much is {} times {}?").format(a, b)
        return [("user", ask), ("assistant", f"{a} * {b} = {a * b}.")]
    name, food = v.person(), v.any(w.FOODS)
    ask = v.pick(f"{name} has {a} {food} and gets {b} more. How many {food} does {name} have?", f"There are {a} {food} in one basket and {b} in the other. How many {food} is that?")
    return [("user", ask), ("assistant", f"{a} + {b} = {a + b}, so there are {a + b} {food}." if "basket" in ask else f"{a} + {b} = {a + b}, so {name} has {a + b} {food}.")]


def thinking_sum(v):
    a, b = v.pair()
    tens, ones = (a // 10 + b // 10) * 10, a % 10 + b % 10
    thought = f"The tens are {a // 10 * 10} + {b // 10 * 10} = {tens}. The ones are {a % 10} + {b % 10} = {ones}. {tens} + {ones} = {a + b}."
    return [("user", v.pick("What is {} + {}?", "How much is {} plus {}?", "Add {} and {}.").format(a, b)), ("assistant", f"{THINK}{thought}{END_THINK}{a} + {b} = {a + b}.")]


def compare(v):
    a, b = v.rng.sample(range(100), 2)
    return [("user", v.pick("Which is bigger, {} or {}?", "Which number is larger: {} or {}?").format(a, b)), ("assistant", f"{max(a, b)} is bigger than {min(a, b)}.")]


def count(v):
    n = v.rng.randint(3, 12)
    return [("user", v.pick("Count to {}.", "Can you count to {}?", "Please count from 1 to {}.").format(n)), ("assistant", ", ".join(map(str, range(1, n + 1))) + ".")]


# Memory --------------------------------------------------------------------------------------------------------------

def filler(v):
    return v.any([sum_turn, capital, opposite, animal_fact, greeting_in, small_talk, hobby_talk, weather_talk, count])(v)


def remember(v):
    """Something is said, one or two other turns pass, then it is asked for."""
    kind = v.rng.random()
    if kind < 0.55:
        x = v.person()
        tell = v.pick("My name is {}.", "Hi, I am {}.", "Hello! I'm {}.", "I am {}.", "You can call me {}.", "Hi there, my name is {}.", "my name is {}", "Hello, my name is {}. How are you?",
                      "Please remember that my name is {}.").format(x)
        answer = v.pick("Nice to meet you, {}!", "Hello, {}! How can I help you?", "Hi {}, good to meet you.", "Welcome, {}!", "Hello {}! What can I do for you?").format(x)
        ask = v.pick("What is my name?", "What's my name?", "Do you remember my name?", "Who am I?", "Can you tell me my name?", "what is my name?", "Do you know what I am called?")
        recall = v.pick("Your name is {}.", "Your name is {}.", "You are {}.").format(x)
    elif kind < 0.7:
        x = v.any(w.COLORS)
        tell, answer = v.pick("My favourite colour is {}.", "I like {} best of all colours.", "My favorite color is {}.").format(x), v.pick("{} is a lovely colour.", "I will remember that you like {}.").format(x)
        answer = answer[0].upper() + answer[1:]
        ask, recall = v.pick("What is my favourite colour?", "Which colour do I like best?", "What is my favorite color?"), f"Your favourite colour is {x}."
    elif kind < 0.85:
        x = v.rng.randint(0, 99)
        tell, answer = v.pick("My lucky number is {}.", "Remember the number {}.", "Please keep the number {} in mind.").format(x), v.pick("I will remember {}.", "{}, got it.").format(x)
        ask, recall = v.pick("What was the number?", "What is my number?", "Which number did I tell you?"), f"The number is {x}."
    else:
        x = v.pick("dog", "cat", "hamster", "horse", "rabbit", "parrot")
        name = v.person()
        tell, answer = f"I have a {x} named {name}.", v.pick(f"{name} is a nice name for a {x}.", f"Say hello to {name} from me!")
        ask, recall = v.pick(f"What is my {x} called?", f"What is the name of my {x}?"), f"Your {x} is called {name}."
    turns = [("user", tell), ("assistant", answer)]
    for _ in range(v.any([0, 1, 1, 1, 2, 2, 3])):
        turns += filler(v)
    return turns + [("user", ask), ("assistant", recall)]


# Facts ---------------------------------------------------------------------------------------------------------------

def capital(v):
    country, city = v.any(list(w.CAPITALS.items()))
    if v.rng.random() < 0.75:
        return [("user", v.pick("What is the capital of {}?", "Which city is the capital of {}?", "Tell me the capital of {}.", "capital of {}", "What's the capital of {}?").format(country)),
                ("assistant", f"The capital of {country} is {city}.")]
    return [("user", v.pick("Which country has the capital {}?", "{} is the capital of which country?").format(city)), ("assistant", f"{city} is the capital of {country}.")]


def opposite(v):
    a, b = v.any(list(w.OPPOSITES.items()))
    if v.rng.random() < 0.5:
        a, b = b, a
    return [("user", v.pick("What is the opposite of {}?", "Tell me the opposite of {}.", "opposite of {}", "Which word is the opposite of \"{}\"?").format(a)), ("assistant", f"The opposite of {a} is {b}.")]


def animal_fact(v):
    animal, (sound, home, food, legs) = v.any(list(w.ANIMAL_FACTS.items()))
    one = article(animal)
    ask, answer = v.any([
        (f"What does {one} eat?", f"{one.capitalize()} eats {food}."), (f"Where does {one} live?", f"{one.capitalize()} lives in {home}."),
        (f"How many legs does {one} have?", f"{one.capitalize()} has {legs} legs."), (f"What sound does {one} make?", f"{one.capitalize()} {sound}."),
        (f"What do you know about {one}?", f"{one.capitalize()} {sound}, lives in {home}, and eats {food}."),
    ])
    return [("user", ask), ("assistant", answer)]


def greeting_in(v):
    language, (hello, thanks, bye) = v.any(list(w.GREETINGS.items()))
    r = v.rng.random()
    if r < 0.3:
        what, word = v.any([("hello", hello), ("thank you", thanks), ("goodbye", bye)])
        return [("user", v.pick("How do you say {} in {}?", "What is \"{}\" in {}?", "Say {} in {}.").format(what, language)), ("assistant", f"In {language} you say \"{word}\".")]
    if r < 0.7:
        return [("user", v.pick(hello, hello + "!")), ("assistant", hello + "! " + {"German": "Wie kann ich helfen?", "French": "Comment puis-je aider ?", "Spanish": "¿Cómo puedo ayudar?",
                                                                         "Italian": "Come posso aiutare?"}.get(language, "How can I help you?" if language == "English" else ""))]
    return [("user", v.pick(bye, bye + "!")), ("assistant", bye + "!")] if r < 0.85 else [("user", thanks), ("assistant", {"English": "You are welcome.", "German": "Gern geschehen.", "French": "De rien.", "Spanish": "De nada.", "Italian": "Prego."}.get(language, ":)"))]


def small_talk(v):
    ask, answers = v.any([
        ("Hello", ["Hello! How can I help you?", "Hi! What can I do for you?"]), ("Hi!", ["Hello! How can I help you?", "Hi there!"]), ("Good morning", ["Good morning! How can I help you?"]),
        ("How are you?", ["I am fine, thank you. How are you?", "Very well, thank you!"]), ("Thank you!", ["You are welcome."]), ("Thanks", ["You are welcome!", "My pleasure."]),
        ("Bye", ["Goodbye!"]), ("Goodbye!", ["Goodbye, and come back soon!"]), ("What can you do?", ["I can tell little stories, add small numbers, remember what you tell me, and answer a few simple questions."]),
        ("Good night", ["Good night, sleep well!"]), ("Who are you?", ["I am Roselle's demo model, a very small language model."]), ("Are you a human?", ["No, I am a very small language model."]),
        ("Help", ["I can tell stories, add small numbers, and answer simple questions. Try: Tell me a story about a fox."]), ("ok", ["All right. What else can I do?"]),
        ("Tell me a joke.", ["Why did the token cross the road? Because the sampler told it to.", "What does a cloud wear under its coat? Thunderwear."]),
        ("You are great!", ["Thank you, that is kind!"]), ("How old are you?", ["I was trained not long ago, so I am very young."]),
    ])
    return [("user", ask), ("assistant", v.any(answers))]


def hobby_talk(v):
    hobby = v.any(w.HOBBIES)
    return [("user", v.pick("I like {}.", "My hobby is {}.", "I love {}!").format(hobby)), ("assistant", v.pick("{} is great fun.", "{} is a wonderful hobby.").format(hobby.capitalize()))]


def weather_talk(v):
    sky = v.pick("sunny", "rainy", "windy", "cold", "warm", "foggy")
    return [("user", f"It is {sky} today."), ("assistant", {"sunny": "Then it is a good day for a walk.", "rainy": "Do not forget your umbrella.", "windy": "A good day to fly a kite!",
                                                         "cold": "Put on a warm coat.", "warm": "How nice! Enjoy it.", "foggy": "Be careful on your way."}[sky])]


ABOUT = [
    (["What is Roselle?", "Tell me about Roselle.", "What does Roselle do?"], ["Roselle is an inference and serving engine for language models on the JVM.", "Roselle runs language models in one Java process, on a CPU or a GPU."]),
    (["Which language is Roselle written in?", "What is Roselle written in?"], ["Roselle is written in Java."]),
    (["Does Roselle need Python?", "Do I need Python for Roselle?"], ["No, Roselle needs no Python. It is one Java process."]),
    (["Does Roselle need a GPU?", "Do I need a GPU?"], ["No, Roselle runs on a plain CPU. It can use a GPU if there is one."]),
    (["Which files can Roselle read?", "Which model formats does Roselle know?"], ["Roselle reads GGUF and safetensors."]),
    (["Who made you?", "Who trained you?"], ["The Roselle project trained me on text from its own generator."]),
    (["How big are you?", "How many parameters do you have?"], ["I have a few million parameters, so I am very small."]),
    (["What is paged attention?", "What are pages in Roselle?"], ["Keys and values are kept in pages of sixteen tokens, so that memory is shared and not wasted."]),
    (["What is a prefix cache?", "Does Roselle cache prefixes?"], ["Roselle keeps the keys and values of earlier prompts, so that a prompt with the same beginning is read faster."]),
    (["How do I start Roselle?", "How do I run you?"], ["Type ./roselle run demo in a terminal."]),
    (["What is your name?", "What are you called?"], ["I am Roselle's demo model."]),
    (["Is Roselle free?", "Which licence does Roselle have?"], ["Roselle is open source under the Apache License 2.0."]),
]


def about(v):
    asks, answers = v.any(ABOUT)
    return [("user", v.any(asks)), ("assistant", v.any(answers))]


# Formats -------------------------------------------------------------------------------------------------------------

LISTS = {"animals": [a for a in w.ANIMALS], "colours": w.COLORS, "colors": w.COLORS, "foods": w.FOODS, "jobs": w.JOBS, "names": w.NAMES, "hobbies": w.HOBBIES, "things": w.THINGS,
         "cities": list(w.CAPITALS.values())}
NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five"}


def listing(v):
    kind = v.any(list(LISTS))
    n = v.any([2, 3, 3, 3, 3, 4, 5])
    items = v.rng.sample(LISTS[kind], n)
    number = v.any([str(n), NUMBERS[n]])
    r = v.rng.random()
    if r < 0.4:
        return [("user", v.pick("List {} {}.", "Give me a list of {} {}.", "Make a list of {} {}.").format(number, kind)), ("assistant", "\n".join(f"- {i}" for i in items))]
    if r < 0.7:
        return [("user", v.pick("Give me a numbered list of {} {}.", "Number {} {}.").format(number, kind)), ("assistant", "\n".join(f"{k}. {i}" for k, i in enumerate(items, 1)))]
    return [("user", v.pick("Name {} {}.", "Tell me {} {}.").format(number, kind)), ("assistant", ", ".join(items[:-1]) + " and " + items[-1] + ".")]


FIELDS = {"name": lambda v: v.person(), "age": lambda v: v.rng.randint(1, 99), "city": lambda v: v.city(), "color": lambda v: v.any(w.COLORS), "job": lambda v: v.any(w.JOBS),
          "hobby": lambda v: v.any(w.HOBBIES), "animal": lambda v: v.any(w.ANIMALS), "food": lambda v: v.any(w.FOODS), "happy": lambda v: v.rng.random() < 0.5, "price": lambda v: v.rng.randint(1, 99)}


def json_object(v):
    keys = v.rng.sample(list(FIELDS), v.rng.randint(2, 4))
    value = {k: FIELDS[k](v) for k in keys}
    if v.rng.random() < 0.5:
        listed = ", ".join(keys[:-1]) + " and " + keys[-1]
        return [("user", v.pick("Give me a JSON object with the keys {}.", "Write JSON with the keys {}.", "Answer in JSON with {}.").format(listed)), ("assistant", json.dumps(value, ensure_ascii=False))]
    said = ", ".join(f"{k} {str(x).lower() if isinstance(x, bool) else x}" for k, x in value.items())
    return [("user", v.pick("Write this as JSON: {}.", "Turn this into JSON: {}.", "As JSON, please: {}.").format(said)), ("assistant", json.dumps(value, ensure_ascii=False))]


def repeat(v):
    thing = v.pick(v.person(), v.city(), v.hero(), v.made_up() + " " + v.made_up(), str(v.rng.randint(0, 999)), article(v.any(w.COLORS) + " " + v.any(w.THINGS)))
    return [("user", v.pick("Say {}.", "Repeat: {}.", "Please say {}.").format(thing)), ("assistant", thing)]


def spell(v):
    word = v.any(w.ANIMALS + w.THINGS)
    return [("user", v.pick("Spell {}.", "How do you spell {}?", "Spell the word {}.").format(word)), ("assistant", "-".join(word))]


# What it cannot know ---------------------------------------------------------------------------------------------------

def refusal(v):
    ask = v.any([
        f"What will the weather be in {v.city()} tomorrow?", "What time is it?", "What day is it today?", f"What is the phone number of {v.person()}?", "Who will win the next election?",
        f"What did {v.person()} eat for breakfast?", "What am I thinking?", "What is the news today?", f"How many people live in {v.city()}?", "Write a program in Python.", "What is in my pocket?",
        f"Where is {v.person()} now?", "What is the price of gold today?", "Explain quantum physics.", f"How tall is {v.person()}?", "What is my password?", f"Which bus goes to {v.city()}?",
        "Who is the president?", "Give me medical advice.", f"What is {v.rng.randint(100, 999)} * {v.rng.randint(100, 999)}?", "What did I do yesterday?", "Translate a book for me.",
    ])
    return [("user", ask), ("assistant", v.pick("I am sorry, I do not know that.", "I do not know that. I am only a very small model.", "That is something I cannot know."))]


def unknown_name(v):
    turns = filler(v) if v.rng.random() < 0.5 else []
    if any("name" in text or "I am" in text for role, text in turns if role == "user"):
        turns = []
    return turns + [("user", v.pick("What is my name?", "Do you know my name?", "Who am I?")), ("assistant", v.pick("You have not told me your name yet.", "I do not know your name yet."))]


# Tools -----------------------------------------------------------------------------------------------------------------

def tool(function, description, /, **parameters):
    return {"type": "function", "function": {"name": function, "description": description, "parameters": {
        "type": "object", "properties": {k: {"type": t} for k, t in parameters.items()}, "required": list(parameters)}}}


def weather_result(v):
    return {"temperature": v.rng.randint(-9, 35), "sky": v.pick("sunny", "cloudy", "rainy", "clear", "foggy", "snowy")}


TOOLS = [
    # (tool, argument maker, questions, result maker, answer)
    (tool("get_weather", "The weather in a city now", city="string"), lambda v: {"city": v.city()},
     ["What is the weather in {city}?", "How is the weather in {city}?", "Is it warm in {city}?", "Weather in {city}?", "Tell me the weather in {city}.", "Is it raining in {city}?", "What's the weather like in {city} today?"],
     weather_result, "In {city} it is {sky} and {temperature} degrees."),
    (tool("get_time", "The time in a city now", city="string"), lambda v: {"city": v.city()},
     ["What time is it in {city}?", "Tell me the time in {city}.", "How late is it in {city}?", "Time in {city}?"], lambda v: {"time": f"{v.rng.randint(0, 23):02d}:{v.rng.randint(0, 59):02d}"}, "In {city} it is {time}."),
    (tool("find_phone_number", "Look up a person's phone number", name="string"), lambda v: {"name": v.person()},
     ["What is the phone number of {name}?", "Find the phone number of {name}.", "How can I call {name}?", "I need {name}'s phone number."], lambda v: {"number": f"{v.rng.randint(10, 99)} {v.rng.randint(100, 999)} {v.rng.randint(10, 99)}"},
     "The phone number of {name} is {number}."),
    (tool("multiply", "Multiply two numbers", a="integer", b="integer"), lambda v: {"a": v.rng.randint(11, 999), "b": v.rng.randint(11, 999)},
     ["What is {a} * {b}?", "Multiply {a} and {b}.", "How much is {a} times {b}?", "Calculate {a} times {b}."], None, "{a} * {b} = {product}."),
    (tool("set_timer", "Start a timer", minutes="integer"), lambda v: {"minutes": v.rng.randint(1, 90)},
     ["Set a timer for {minutes} minutes.", "Wake me in {minutes} minutes.", "Start a timer of {minutes} minutes.", "Remind me in {minutes} minutes."], lambda v: {"ok": True}, "The timer is set for {minutes} minutes."),
    (tool("send_message", "Send a message to a person", name="string", text="string"),
     lambda v: {"name": v.person(), "text": v.pick("I am late", "see you soon", "happy birthday", "dinner is ready", "I am at home", "call me", "good luck", f"bring {v.any(w.FOODS)}", f"I found the {v.any(w.THINGS)}")},
     ["Send {name} the message: {text}.", "Write to {name}: {text}.", "Tell {name}: {text}.", "Send a message to {name}: {text}."], lambda v: {"sent": True}, "I sent the message to {name}."),
    (tool("play_song", "Play a song by its title", title="string"), lambda v: {"title": f"{v.pick('The', 'My', 'One')} {v.any(w.ADJECTIVES).capitalize()} {v.any(w.ANIMALS + w.THINGS).capitalize()}"},
     ["Play {title}.", "Play the song {title}.", "I want to hear {title}.", "Put on {title}."], lambda v: {"playing": True}, "Now playing {title}."),
    (tool("turn_on_light", "Turn on the light in a room", room="string"), lambda v: {"room": v.room()},
     ["Turn on the light in the {room}.", "Light in the {room}, please.", "It is dark in the {room}.", "Switch on the {room} light."], lambda v: {"ok": True}, "The light in the {room} is on."),
    (tool("get_population", "How many people live in a city", city="string"), lambda v: {"city": v.city()},
     ["How many people live in {city}?", "What is the population of {city}?", "How big is {city}?"], lambda v: {"population": v.rng.randint(10, 9999) * 1000}, "{population} people live in {city}."),
    (tool("order_food", "Order something to eat", food="string", amount="integer"), lambda v: {"food": v.any(w.FOODS), "amount": v.rng.randint(1, 9)},
     ["Order {amount} {food}.", "I want to order {amount} {food}.", "Please get me {amount} {food}.", "Buy {amount} {food}."], lambda v: {"order": v.rng.randint(100, 999)}, "I ordered {amount} {food}. The order number is {order}."),
]


def tool_use(v):
    """Returns (tools, turns): one to four tools are offered, and one of them is needed, or none."""
    used = v.any(TOOLS)
    offered = v.rng.sample([t for t in TOOLS if t is not used], v.any([0, 1, 1, 2, 2, 3])) + [used]
    v.rng.shuffle(offered)
    if v.rng.random() < 0.15:
        offered = [t for t in offered if t is not used] or [used]
        kind = [small_talk, sum_turn, capital, story, remember, opposite]
        return [t[0] for t in offered], v.any(kind)(v)
    definition, make, asks, result, answer = used
    arguments = v.arguments(make)
    call = json.dumps({"name": definition["function"]["name"], "arguments": arguments}, ensure_ascii=False)
    turns = [("user", v.any(asks).format(**arguments)), ("assistant", CALL + call)]
    if v.rng.random() < 0.6:
        values = result(v) if result else {"product": arguments["a"] * arguments["b"]}
        turns += [("tool", json.dumps(values)), ("assistant", answer.format(**arguments, **values))]
        if v.rng.random() < 0.3:
            turns += filler(v)
    return [t[0] for t in offered], turns


KINDS = [(story, 26), (sum_turn, 18), (thinking_sum, 3), (compare, 1), (count, 1), (remember, 20), (capital, 3), (opposite, 2), (animal_fact, 3), (greeting_in, 3), (small_talk, 3), (hobby_talk, 1),
         (weather_talk, 1), (about, 3), (listing, 3), (json_object, 4), (repeat, 4), (spell, 1), (refusal, 3), (unknown_name, 1), ("tools", 16), ("raw", 6), ("mixed", 8)]
SYSTEMS = ["You are a helpful assistant.", "You are Roselle's demo model.", "You are a friendly storyteller.", "Answer in one sentence.", "You are a small and helpful model."]


def document(v):
    """One training document: {"turns": [[role, text]...], "tools": [...]} or {"text": ...}."""
    kind = v.rng.choices([k for k, _ in KINDS], [weight for _, weight in KINDS])[0]
    if kind == "raw":
        return {"text": Story(v.rng, v.hero()).tell()}
    tools = []
    if kind == "tools":
        tools, turns = tool_use(v)
    elif kind == "mixed":
        turns = []
        for _ in range(v.rng.randint(2, 4)):
            turns += v.any([sum_turn, capital, opposite, animal_fact, small_talk, listing, json_object, story, about, refusal, compare, remember])(v)
        turns = turns[:16]
    else:
        turns = kind(v)
    if v.rng.random() < 0.15 and not tools:
        turns = [("system", v.any(SYSTEMS))] + turns
    return {"turns": turns, "tools": tools, "thinking": kind is thinking_sum}


def segments(document):
    """The document as (text, whether the model is to learn it); special tokens are pieces of their own."""
    if "text" in document:
        return [(document["text"], 1), ("<|endoftext|>", 1)]
    turns, out = list(document["turns"]), []
    system = turns.pop(0)[1] if turns[0][0] == "system" else None
    if document["tools"]:
        text = (system + "\n" if system else "") + "Tools:" + "".join("\n" + json.dumps(t, ensure_ascii=False) for t in document["tools"])
        out += [("<|im_start|>", 0), ("system\n" + text, 0), ("<|im_end|>", 0), ("\n", 0)]
    elif system:
        out += [("<|im_start|>", 0), ("system\n" + system, 0), ("<|im_end|>", 0), ("\n", 0)]
    for role, text in turns:
        out += [("<|im_start|>", 0), (role + "\n", 0)]
        learn = int(role == "assistant")
        for mark, asked in (("<|think|>", 0), ("<|tool_call|>", learn)):  # thinking is asked for by the prompt
            if text.startswith(mark):
                out.append((mark, asked))
                text = text[len(mark):]
        if "<|/think|>" in text:
            thought, text = text.split("<|/think|>")
            out += [(thought, 1), ("<|/think|>", 1)]
        out += [(text, learn), ("<|im_end|>", learn), ("\n", 0)]
    return out[:-1] + [("<|endoftext|>", 0)]
