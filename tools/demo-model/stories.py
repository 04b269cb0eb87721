"""Little stories from a grammar: a hero, a place, a wish or a trouble, a friend, an end."""
import words as w

TEMPERS = w.ADJECTIVES
FRIEND_NAMES = [n for n in w.NAMES]


def article(noun):
    return ("an " if noun[0].lower() in "aeiou" else "a ") + noun


class Story:
    """One story told with one random generator; each sentence is drawn from several wordings."""

    def __init__(self, rng, hero, adjective="", name=""):
        self.rng = rng
        pick = rng.choice
        self.hero = hero
        self.adjective = adjective or pick(TEMPERS)
        self.name = name or pick(FRIEND_NAMES)
        others = [a for a in w.ANIMALS if a != hero and a not in w.HELD_OUT_HEROES]
        self.friend = pick(others)
        self.friend_adjective = pick([a for a in TEMPERS if a != self.adjective])
        self.place = pick(w.PLACES)
        self.thing = pick(w.THINGS)
        self.color = pick(w.COLORS)
        self.food = pick(w.FOODS)
        self.pronoun, self.object, self.owner = pick([("he", "him", "his"), ("she", "her", "her"), ("it", "it", "its")])
        self.the = "the " + hero

    def say(self, *wordings):
        text = self.rng.choice(wordings)
        for field in ("hero", "adjective", "name", "friend_adjective", "friend", "place", "thing", "color", "food", "owner", "object",
                      "pronoun"):
            text = text.replace("{" + field + "}", getattr(self, field))
        text = text.replace("{Pronoun}", self.pronoun.capitalize()).replace("{Place}", self.place[0].upper() + self.place[1:])
        for marker, value in (("{a hero}", article(f"{self.adjective} {self.hero}")), ("{a friend}", article(f"{self.friend_adjective} {self.friend}")),
                              ("{a thing}", article(f"{self.color} {self.thing}"))):
            text = text.replace(marker, value)
        return text

    def opening(self):
        named = self.rng.random() < 0.6
        if named:
            first = self.say("Once upon a time there was {a hero} named {name}.", "Once there lived {a hero} whose name was {name}.",
                             "{Place} there lived {a hero} called {name}.", "There was once {a hero}, and everyone called {object} {name}.",
                             "Long ago, {a hero} named {name} lived {place}.", "One day {a hero} named {name} woke up early.")
        else:
            first = self.say("Once upon a time there was {a hero}.", "Once there lived {a hero} {place}.",
                             "Long, long ago, {place}, there lived {a hero}.", "There was once {a hero} who lived {place}.",
                             "{Place} lived {a hero}.", "One morning {a hero} looked out of the window.")
        second = self.say("The {hero} lived {place} and liked {food} very much.", "Every day the {hero} went for a walk and looked at the sky.",
                          "{Pronoun} had {a thing} that {pronoun} loved more than anything.", "All {pronoun} wanted was a good friend.",
                          "{Pronoun} was known everywhere for {owner} {food}.", "Nobody {place} was as {adjective} as {object}.",
                          "The {hero} slept long, ate {food}, and dreamed of the wide world.", "{Pronoun} liked to sing when the sun came up.")
        return [first, second]

    def lost_thing(self):
        return [self.say("One day the {hero} lost {owner} {color} {thing}.", "One evening the {color} {thing} was gone.",
                         "But one windy day the {thing} was nowhere to be found."),
                self.say("{Pronoun} looked under the bed, behind the door, and in the garden.", "{Pronoun} searched all day and found nothing but leaves.",
                         "\"Where can it be?\" said the {hero}, and sat down sadly."),
                self.say("Then {a friend} came by. \"Why are you so sad?\" asked the {friend}.", "A {friend} heard {object} cry and came closer.",
                         "On the path {pronoun} met {a friend}, who asked what was wrong."),
                self.say("\"I have lost my {thing},\" said the {hero}. \"Then let us look together,\" said the {friend}.",
                         "When the {hero} had told everything, the {friend} nodded. \"Two see more than one,\" it said.",
                         "\"My {thing} is gone,\" said the {hero}. The {friend} thought for a while and smiled."),
                self.say("They looked by the river, and there it lay between two stones.", "They climbed the hill, and at the top something {color} was shining.",
                         "At last they found the {thing} in the old tree, where the wind had carried it.", "Behind the mill, in the tall grass, they found it."),
                self.say("The {hero} was so glad that {pronoun} danced.", "\"Thank you!\" cried the {hero}, and gave the {friend} some {food}.",
                         "\"I found a {thing} and a friend,\" said the {hero}.")]

    def afraid(self):
        fear = self.rng.choice(["the dark", "thunder", "deep water", "high places", "the big wind", "strangers"])
        return [self.say(f"But the {{hero}} had a secret: {{pronoun}} was afraid of {fear}.", f"Only one thing frightened the {{hero}}, and that was {fear}."),
                self.say("One night a {friend} called for help from far away.", "One day a small voice cried, \"Help me, please!\" It was {a friend}.",
                         "Then it happened that {a friend} was in trouble."),
                self.say("The {hero}'s knees shook. \"I am afraid,\" {pronoun} thought, \"but the {friend} needs me.\"", "The {hero} took a deep breath and counted to three.",
                         "\"If I do not go, who will?\" said the {hero}."),
                self.say("So {pronoun} took {owner} {thing} and went, step by step.", "{Pronoun} closed {owner} eyes for a moment, and then {pronoun} ran.",
                         "With {owner} {color} {thing} in front of {object}, {pronoun} went on and on."),
                self.say("There sat the {friend} under a broken branch, and the {hero} lifted it away.", "The {friend} was stuck in a hole, and the {hero} pulled until it was free.",
                         "The {friend} had lost its way, and the {hero} showed it the path home."),
                self.say(f"\"You are the bravest {{hero}} I know,\" said the {{friend}}. From that day on {fear} did not seem so bad.",
                         f"On the way home the {{hero}} noticed that {{pronoun}} had forgotten to be afraid of {fear}.")]

    def sharing(self):
        return [self.say("In autumn the {hero} gathered a great heap of {food}.", "The {hero} had baked and cooked all day, and the table was full of {food}.",
                         "One summer there was more of everything than ever, and the {hero} had a whole room of {food}."),
                self.say("\"All of this is mine,\" said the {hero}, and shut the door.", "\"I will not give any away,\" {pronoun} thought."),
                self.say("Then winter came, and {a friend} knocked. \"I am so hungry,\" it said.", "In the evening {a friend} stood outside in the rain.",
                         "A {friend} came along and asked for just a little."),
                self.say("The {hero} looked at the heap and looked at the {friend}.", "The {hero} wanted to say no, but the {friend} was so thin.",
                         "For a moment nobody spoke, and only the wind could be heard."),
                self.say("\"Come in,\" said the {hero} at last. \"There is enough for two.\"", "\"Sit down and eat,\" said the {hero}.",
                         "Then {pronoun} opened the door wide."),
                self.say("They ate {food} and told each other stories until midnight.", "Never had {food} tasted so good as on that evening.",
                         "And strange to say, the heap seemed no smaller in the morning.")]

    def race(self):
        return [self.say("One morning {a friend} said, \"I am faster than you!\"", "The {friend} in the next field boasted all day about how fast it was."),
                self.say("\"Let us race to the old bridge,\" said the {hero}.", "\"Then let us see who is first at the big oak,\" said the {hero}."),
                self.say("Everyone came to watch, and the owl counted to three.", "A crow dropped a {color} leaf, and off they went."),
                self.say("The {friend} ran ahead and laughed. But halfway it stopped to eat {food}.", "The {friend} was fast, but it looked back so often that it fell into the stream."),
                self.say("The {hero} did not stop. {Pronoun} went on, step by step.", "The {hero} heard it call, turned round, and helped it up."),
                self.say("In the end they came in side by side, and both laughed.", "So the {hero} was first, and the {friend} was the first to clap.",
                         "\"You won,\" said the {friend}. \"We both did,\" said the {hero}.")]

    def journey(self):
        goal = self.rng.choice(["the sea", "the end of the rainbow", "the highest mountain", "the city", "the moon", "the place where the wind is born"])
        return [self.say(f"One day the {{hero}} said, \"I want to see {goal}.\"", f"Every night the {{hero}} dreamed of {goal}."),
                self.say("So {pronoun} packed some {food} and {a thing} and set out.", "{Pronoun} put on {owner} hat, took the {color} {thing}, and went."),
                self.say("On the first day {pronoun} met {a friend}. \"May I come too?\" it asked.", "In the wood sat {a friend} who knew the way."),
                self.say("They walked through rain and sun, over hills and past quiet farms.", "It was a long way, and sometimes their feet hurt."),
                self.say(f"When they came to {goal}, it was more beautiful than in any dream.", f"And then, one evening, there it was: {goal}."),
                self.say("They sat down, ate the last of the {food}, and said nothing for a long time.", "\"It was worth every step,\" said the {hero}.",
                         "\"Now I know what I like best,\" said the {hero}, \"and that is going home with a friend.\"")]

    def making(self):
        return [self.say("One day the {hero} wanted to make {a thing}.", "The {hero} had an idea: {pronoun} would build {a thing}, the best in the world."),
                self.say("The first one broke at once.", "The first one was crooked, and everybody laughed."),
                self.say("The second one was better, but it fell into the river.", "The second one was too big for the door."),
                self.say("\"Do not give up,\" said {a friend}. \"I will hold it while you work.\"", "Then {a friend} came and brought {food} and a good word."),
                self.say("The third one was just right. It was {color}, and it shone in the sun.", "After three days it was done, and it was perfect."),
                self.say("The {hero} gave it to the {friend}, because making it had been the best part.", "From then on everybody {place} wanted {a thing} like it.",
                         "\"I am glad that the first one broke,\" said the {hero}.")]

    def ending(self):
        return [self.say("And they lived happily ever after.", "From that day on they were the best of friends.", "That night the {hero} slept well and dreamed of tomorrow.",
                         "And if you go there today, you may still see the {hero} and the {friend} together.", "The {hero} never forgot that day.",
                         "And so the {hero} learned that a friend is worth more than {a thing}.", "Then the moon rose, and everyone went home.",
                         "Since then the {hero} smiles whenever somebody says the word {thing}.")]

    def tell(self):
        plot = self.rng.choice([self.lost_thing, self.afraid, self.sharing, self.race, self.journey, self.making])
        sentences = self.opening() + plot() + self.ending()
        if self.rng.random() < 0.5:
            return " ".join(sentences)
        cut = self.rng.choice([2, 5, 6])
        return " ".join(sentences[:cut]) + "\n\n" + " ".join(sentences[cut:])
