"""The word lists that the demo model's training text is made of; all of our own making."""

ANIMALS = """fox bear rabbit owl mouse cat dog duck frog hedgehog squirrel deer wolf otter beaver badger penguin turtle
lion tiger elephant monkey giraffe zebra horse pony cow sheep goat pig hen goose swan crow robin sparrow whale dolphin crab
snail bee ant spider butterfly dragonfly mole bat koala panda kangaroo camel seal walrus lizard snake toad hamster donkey
lamb kitten puppy rooster eagle parrot peacock stork heron salmon trout octopus starfish ladybird beetle cricket worm moth
raccoon lynx moose reindeer yak llama ferret weasel gecko newt swallow finch magpie pelican puffin lobster shrimp""".split()
CREATURES = """dragon robot knight princess prince king queen pirate wizard witch giant dwarf elf fairy mermaid ghost
gardener baker sailor farmer tailor painter miller shepherd fisherman teacher doctor cook boy girl snowman scarecrow cloud
star moon river tree stone boat train teapot kite lantern violin clock bicycle balloon puppet toymaker lighthouse windmill
inventor astronaut explorer drummer juggler clown postman beekeeper librarian potter weaver dancer singer miner""".split()
HELD_OUT_HEROES = """badger penguin lantern beekeeper walrus heron snowman tailor moth comet violinist gnome plumber
cactus squid falcon carpenter kettle sailor acorn""".split()
ADJECTIVES = """little brave shy clever kind old young curious sleepy hungry lonely cheerful tiny gentle quiet proud lazy
grumpy merry clumsy patient careful noisy happy sad bold silly wise busy dreamy stubborn polite nervous friendly""".split()
COLORS = "red blue green yellow orange purple pink brown black white grey golden silver turquoise violet crimson".split()
PLACES = [
    "in a quiet forest", "in a green valley", "in a small village", "in a big old barn", "in a house by the sea", "on a snowy mountain",
    "on a wide meadow", "in a garden full of roses", "in a tall tower", "in a busy town", "on an island", "in a cave under the hill",
    "in a castle of grey stone", "in a hut at the edge of the wood", "on a windy beach", "on a farm on the hill", "in a deep dark wood",
    "in a hollow tree", "in a boat on the lake", "in a street with crooked houses", "in a sunny orchard", "in a swamp full of reeds",
    "in a desert of yellow sand", "on a bridge over the river", "in a harbour full of ships", "in a mill beside a stream",
]
THINGS = """lamp key map shell feather button bell ring drum whistle basket blanket scarf hat boot spoon cup candle rope
stone coin book letter box mirror ladder kite ball flute apple cake pie loaf acorn seed flower leaf umbrella hammer wheel
compass necklace crown jar bottle brush pencil marble pillow lantern telescope""".split()
FOODS = """apples bread cheese soup honey berries cake pancakes carrots nuts pears plums porridge beans rice noodles
cookies grapes cherries tomatoes potatoes pie salad jam corn mushrooms peaches melons biscuits lemons""".split()
HOBBIES = """reading painting swimming singing dancing cooking running drawing fishing gardening chess football tennis
cycling hiking knitting skating climbing sailing baking photography astronomy carpentry pottery archery""".split()
JOBS = """teacher nurse baker farmer pilot driver painter doctor cook sailor gardener builder writer singer carpenter
plumber engineer dentist waiter tailor fisherman librarian postman mechanic florist""".split()
NAMES = """Anna Ben Clara David Emma Felix Greta Hugo Ida Jonas Kira Leo Mia Nils Olga Paul Rosa Sam Tina Uwe Vera Will
Xenia Yara Zoe Alma Boris Celia Dario Elin Finn Gina Hanna Ivan Julia Karl Lara Marco Nora Oscar Petra Quinn Ruth Simon
Tara Ugo Viola Walter Yuri Zelda Amir Bella Carlos Dina Eva Farid Gloria Hassan Irene Jack Kemal Lina Mona Noah Otto
Priya Ravi Sofia Theo Ursula Victor Wanda Ying Zara Adam Berta Cora Denis Erik Flora Gabriel Helena Igor Jana Kurt Lucy
Martin Nadia Omar Paula Rafael Sara Tom Ulla Vince Wilma Yasmin Zeno Ada Bruno Chloe Diego Esther Fred Gwen Harry Iris""".split()
HELD_OUT_NAMES = """Lukas Mina Rupert Selma Tobias Wendy Agnes Bastian Camila Dorian Elvira Fabian Gretel Henrik Ines
Jasper Katja Lorenz Malte Nelly Orson Philine Rolf Stella Timon""".split()
ANIMALS, CREATURES, THINGS, JOBS = ([word for word in words if word not in HELD_OUT_HEROES] for words in (ANIMALS, CREATURES, THINGS, JOBS))
CAPITALS = dict(line.split(": ") for line in """France: Paris
Germany: Berlin
Italy: Rome
Spain: Madrid
Portugal: Lisbon
Austria: Vienna
Switzerland: Bern
Poland: Warsaw
Greece: Athens
Sweden: Stockholm
Norway: Oslo
Denmark: Copenhagen
Finland: Helsinki
Ireland: Dublin
Hungary: Budapest
Belgium: Brussels
Turkey: Ankara
Egypt: Cairo
Japan: Tokyo
China: Beijing
India: New Delhi
Canada: Ottawa
Brazil: Brasilia
Argentina: Buenos Aires
Peru: Lima
Chile: Santiago
Cuba: Havana
Kenya: Nairobi
Russia: Moscow
Iceland: Reykjavik
the Netherlands: Amsterdam
the Czech Republic: Prague
South Korea: Seoul
Thailand: Bangkok
Vietnam: Hanoi
Mexico: Mexico City
Australia: Canberra
the United Kingdom: London
the United States: Washington
Morocco: Rabat""".splitlines())
OPPOSITES = dict(line.split(": ") for line in """hot: cold
big: small
fast: slow
up: down
day: night
happy: sad
old: young
light: dark
open: closed
full: empty
hard: soft
wet: dry
rich: poor
strong: weak
loud: quiet
clean: dirty
near: far
high: low
left: right
early: late
long: short
thick: thin
good: bad
true: false
first: last
inside: outside
heavy: light
sweet: sour
brave: afraid
asleep: awake""".splitlines())
ANIMAL_FACTS = {  # animal: (sound, home, food, legs)
    "dog": ("barks", "a kennel", "meat", 4), "cat": ("meows", "a house", "fish and meat", 4),
    "cow": ("moos", "a barn", "grass", 4), "horse": ("neighs", "a stable", "grass and oats", 4),
    "sheep": ("bleats", "a fold", "grass", 4), "pig": ("oinks", "a sty", "roots and corn", 4),
    "hen": ("clucks", "a coop", "seeds", 2), "duck": ("quacks", "a pond", "plants and insects", 2),
    "frog": ("croaks", "a pond", "insects", 4), "bee": ("buzzes", "a hive", "nectar", 6),
    "lion": ("roars", "the savanna", "meat", 4), "owl": ("hoots", "a hollow tree", "mice", 2),
    "wolf": ("howls", "a den", "meat", 4), "mouse": ("squeaks", "a hole", "seeds", 4),
    "bear": ("growls", "a cave", "berries and fish", 4), "fox": ("barks", "a den", "mice and berries", 4),
    "snake": ("hisses", "a burrow", "mice", 0), "bird": ("sings", "a nest", "seeds and insects", 2),
    "elephant": ("trumpets", "the savanna", "leaves and grass", 4), "spider": ("is silent", "a web", "insects", 8),
    "ant": ("is silent", "an ant hill", "crumbs and seeds", 6), "rabbit": ("is quiet", "a burrow", "grass and carrots", 4),
}
GREETINGS = {  # language: (hello, how it says thank you, goodbye)
    "English": ("Hello", "Thank you", "Goodbye"), "German": ("Hallo", "Danke", "Auf Wiedersehen"),
    "French": ("Bonjour", "Merci", "Au revoir"), "Spanish": ("Hola", "Gracias", "Adiós"),
    "Italian": ("Ciao", "Grazie", "Arrivederci"), "Portuguese": ("Olá", "Obrigado", "Adeus"),
    "Dutch": ("Hallo", "Dank je", "Tot ziens"), "Swedish": ("Hej", "Tack", "Hej då"),
    "Polish": ("Cześć", "Dziękuję", "Do widzenia"), "Turkish": ("Merhaba", "Teşekkürler", "Hoşça kal"),
    "Finnish": ("Hei", "Kiitos", "Näkemiin"), "Greek": ("Γεια σου", "Ευχαριστώ", "Αντίο"),
    "Russian": ("Привет", "Спасибо", "До свидания"), "Japanese": ("こんにちは", "ありがとう", "さようなら"),
    "Chinese": ("你好", "谢谢", "再见"), "Hungarian": ("Szia", "Köszönöm", "Viszlát"),
    "Danish": ("Hej", "Tak", "Farvel"), "Norwegian": ("Hei", "Takk", "Ha det"), "Czech": ("Ahoj", "Děkuji", "Na shledanou"),
}
ROOMS = ["kitchen", "bedroom", "bathroom", "hall", "cellar", "garage", "attic", "office", "living room", "dining room", "guest room", "corridor",
         "basement", "study", "porch", "shed", "bath", "stairs"]
HELD_OUT_ROOMS = ["library", "pantry", "workshop", "laundry room", "nursery", "closet", "greenhouse"]
CITIES = sorted(set(CAPITALS.values())) + """Hamburg Munich Milan Naples Porto Seville Lyon Nice Geneva Zurich Krakow
Gdansk Bergen Turku Cork Ghent Izmir Osaka Kyoto Mumbai Delhi Toronto Boston Chicago Seattle Denver Dallas Sydney Perth
Lagos Accra Tunis Dakar Quito Bogota Caracas Manila Jakarta Hanoi Riga Vilnius Tallinn Sofia Zagreb Split Graz Linz Basel
Leipzig Dresden Bremen Cologne Turin Genoa Palermo Bilbao Granada Nantes Lille Leeds York Bristol Oxford""".split()
HELD_OUT_CITIES = """Malmo Aarhus Tampere Utrecht Antwerp Valencia Verona Padua Salzburg Innsbruck Brno Szeged Poznan
Bordeaux Toulouse Cardiff Dundee Galway Kobe Nagoya Austin Portland Lusaka Kampala""".split()
HELD_OUT_WORDS = {word.lower() for word in HELD_OUT_HEROES + HELD_OUT_NAMES + HELD_OUT_CITIES + HELD_OUT_ROOMS}
