"""The English phrase book. Only phrases; `story_arc.py` says what they are for.

Places in braces: hero, name (the hero, short), place (with its preposition), deed (an -ing phrase), met, friend (whom the
hero meets, short), light, trouble, turn, coda. Every beat has lines of at most 8 words, so that a 5-second shot always
finds one that fits.
"""

from comic_pipeline.providers.offline.story_arc import Beat, Flavour, PhraseBook, told

BEATS = {
    "opening": Beat(
        scenes=(
            "the {hero} {place}, {deed}, {light}",
            "{light} {place}, where the {hero} is {deed} alone",
            "the {hero} stands {place}, {light}, all is quiet",
        ),
        lines=told(
            "Nobody asked why the {name} kept {deed}.",
            "The {name} had been {deed} for years.",
            "hero: Today feels different somehow.",
            "That day, the {name} woke early.",
            "It began like any other day.",
        ),
    ),
    "routine": Beat(
        scenes=(
            "the {hero} is busy {deed} {place}, footprints all around",
            "in a quiet corner the {hero} looks up while {deed}",
            "the {hero} walks on {place} and looks up now and then",
        ),
        lines=told(
            "hero: Just a little more.",
            "hero: If only somebody were here.",
            "Days went by, one like another.",
            "The {name} never stopped.",
        ),
    ),
    "sign": Beat(
        scenes=("the {hero} stops: something glows far away {place}", "the {hero} turns in surprise at strange footprints"),
        lines=told(
            "hero: Wait. What was that?",
            "hero: Who is there?",
            "Then, far away, a light blinked.",
            "A strange voice called softly.",
        ),
    ),
    "encounter": Beat(
        scenes=(
            "the {hero} meets the {met} {place}, eyes wide",
            "the {met} suddenly appears before the {hero}, {light}",
            "the {hero} waves and reaches out to the {met}",
        ),
        lines=told(
            "hero: Hello. Are you the {friend}?",
            "friend: Do not be afraid of me.",
            "friend: At last, somebody sees me!",
            "And so the {name} met the {friend}.",
            "hero: Where did you come from?",
        ),
    ),
    "talk": Beat(
        scenes=(
            "the {hero} and the {met} sit side by side {place}, {light}",
            "the {met} leans close to the {hero} to tell a secret",
        ),
        lines=told(
            "friend: I will tell you a secret.",
            "hero: Let us go on together.",
            "friend: Will you trust me?",
            "hero: So you were alone too.",
            "They talked until the lights went out.",
        ),
    ),
    "journey": Beat(
        scenes=(
            "the {hero} and the {met} run ahead together {place}",
            "the {hero} climbs high with the {met} and looks far out",
            "the {hero} falls and stands up again, the {met} waits ahead",
            "wind blows {place}, the {hero} and the {met} look at a map",
        ),
        lines=told(
            "hero: Stay close, we are nearly there!",
            "The way was long. Nobody turned back.",
            "friend: I will walk with you.",
            "hero: Look, there is a light!",
            "They walked on and on.",
        ),
    ),
    "crisis": Beat(
        scenes=(
            "suddenly {trouble}, the {hero} stares at the {met} in shock",
            "{trouble}, the {hero} stands in front of the {met}",
            "{trouble}, everything {place} has changed, the {hero} looks around in worry",
        ),
        lines=told(
            "hero: Oh no, {trouble}!",
            "hero: Stay behind me, {friend}!",
            "friend: Do something, please!",
            "And then {trouble}.",
            "hero: How could this happen?",
            "friend: There is no time left!",
        ),
    ),
    "doubt": Beat(
        scenes=("the {hero} sits with a lowered head {place}, {light}", "the {hero} looks at its shadow, the {met} keeps watch"),
        lines=told(
            "hero: Maybe I cannot do this.",
            "friend: I believe in you. Always.",
            "The {name} thought of giving up.",
            "It was very quiet.",
        ),
    ),
    "attempt": Beat(
        scenes=("the {hero} takes a breath and runs toward the light", "the {hero} raises both hands, the {met} begins to glow"),
        lines=told(
            "hero: Once more. One last time!",
            "hero: I will not leave you here.",
            "The {name} stood up and ran.",
            "friend: Together, on three!",
        ),
    ),
    "turn": Beat(
        scenes=("{turn}, the {hero} and the {met} look up", "{turn}, the {hero} jumps high, the {met} circles around"),
        lines=told(
            "In that moment, {turn}.",
            "hero: Look, {turn}!",
            "friend: We did it! We did it!",
            "hero: The answer was here all along.",
            "Nobody saw it coming.",
        ),
    ),
    "farewell": Beat(
        scenes=("the {hero} waves to the {met}, {light} {place}", "the {met} lays a small light in the hands of the {hero}"),
        lines=told(
            "friend: Thank you, my friend.",
            "hero: We will meet again, right?",
            "friend: When you miss me, look up.",
            "Some goodbyes are promises.",
        ),
    ),
    "ending": Beat(
        scenes=(
            "the {hero} and the {met} stand together {place}, {turn}",
            "{light}, the {hero} smiles back, the {met} shines at its side",
            "{turn}, the {hero} and the {met} look into the distance",
        ),
        lines=told(
            "The {name} was never alone again.",
            "{coda}",
            "hero: Tomorrow we go on together!",
            "hero: Thank you for staying, {friend}.",
            "The story had only begun.",
        ),
    ),
}

FLAVOURS = {
    "healing": Flavour(
        lights=("soft morning light", "a warm sunset glow", "gentle starlight", "a pale warm shimmer"),
        troubles=("the wind blew out every light", "all the flowers hung their heads", "the sky went dark"),
        turns=("small lights rose from the ground", "every flower opened at once", "the clouds let the stars through"),
        codas=("Even a small light can fill a sky.", "Take your time. Flowers will bloom.", "To be remembered is to be warm."),
        heroes=("cat", "rabbit", "girl"),
        places=("in the garden", "on a small island", "on the hill", "in the forest"),
        deeds=("planting flowers", "counting stars", "writing letters", "collecting moonlight"),
        friends=("singing star", "lost bird", "glowing butterfly"),
    ),
    "ink": Flavour(
        lights=("thin rising mist", "a pale moon", "a far blue haze", "fine rain"),
        troubles=("fog swallowed the way back", "thunder broke the bridge", "black clouds came down low"),
        turns=("the fog opened to a thousand hills", "a small boat came out of the mist", "plum trees bloomed overnight"),
        codas=("Mountains are high. We shall meet again.", "One thought can cross a thousand hills.", "The road is long. Sing."),
        heroes=("swordsman", "scholar", "deer"),
        places=("in the bamboo forest", "on the river", "before the old temple", "in the valley"),
        deeds=("practising the sword", "playing the zither", "painting mountains", "gathering herbs"),
        friends=("white fox", "old storyteller", "young deer"),
    ),
    "cyber": Flavour(
        lights=("neon flickers in the rain", "cold blue holograms", "magenta light", "wet reflections at night"),
        troubles=("all the power went out", "alarms filled the night", "every screen turned red"),
        turns=("data rained upward into the sky", "the first real sunlight came in", "the sleeping system lit up"),
        codas=("Memory can be erased. Choices cannot.", "For once the city was quiet.", "The signal was lost. We were not."),
        heroes=("robot", "hacker girl", "electric cat"),
        places=("on the neon street", "on a city rooftop", "inside a space station"),
        deeds=("mending old chips", "tracing a signal", "running deliveries"),
        friends=("robot without memory", "fox with headphones", "glowing machine bird"),
    ),
    "comedy": Flavour(
        lights=("far too much sunshine", "broad daylight", "the lamp snaps on", "a noisy afternoon"),
        troubles=("everything fell down at once", "the door would not open", "a stomach growled like thunder"),
        turns=("everybody fell over laughing", "it worked, of all things", "a giant cake fell from the sky"),
        codas=("Next time, we do it again!", "Laugh and it is half as bad.", "In the end, nobody had lunch."),
        heroes=("dog", "boss", "pig"),
        places=("in the kitchen", "in the classroom", "on the street", "in a corner shop"),
        deeds=("making breakfast", "practising handstands", "faking homework", "stealing cake"),
        friends=("arguing parrot", "clumsy robot", "angry goose"),
    ),
    "suspense": Flavour(
        lights=("a dim old lamp", "white moonlight", "shadows of window blinds", "a flickering bulb"),
        troubles=("all the lights went out", "the footsteps behind stopped", "one shadow too many stood on the wall"),
        turns=("the truth showed in the mirror", "the locked door opened by itself", "the first morning light came in"),
        codas=("Some doors will not close again.", "The truth had been near all along.", "The clock struck once more."),
        heroes=("detective", "reporter", "night watchman"),
        places=("on a street at midnight", "in an old library", "in the castle"),
        deeds=("reading an old case", "turning diary pages", "walking the night round"),
        friends=("girl without a shadow", "masked old man", "writing ghost"),
    ),
    "fantasy": Flavour(
        lights=("flowing northern lights", "golden rain of light", "two rising moons", "a shimmer of magic"),
        troubles=("a huge shadow covered the sky", "the ground broke open", "the old seal cracked"),
        turns=("the ancient sword began to shine", "a dragon rose into the sky", "the broken bridge became a rainbow"),
        codas=("Courage is the oldest magic.", "The map had one more line.", "So the legend began."),
        heroes=("boy", "young dragon", "wizard"),
        places=("in the castle", "in the valley", "above the clouds", "in the forest"),
        deeds=("seeking a book of spells", "guarding the flame", "learning to fly"),
        friends=("newborn dragon", "glowing spirit", "sleeping knight"),
    ),
}

BOOK = PhraseBook(
    beats=BEATS,
    flavours=FLAVOURS,
    titles=(
        "The {name} and the {friend}",
        "The {name} Meets the {met}",
        "A {name}, a {friend}",
        "The {name} Who Found the {friend}",
    ),
    moves=(
        "slow push in",
        "slow pan right across the scene",
        "slow pull out to the whole scene",
        "slow pan left across the scene",
        "slow tilt up",
        "slow tilt down",
    ),
    framings=("wide shot", "medium shot", "close-up"),
    after=(
        "The wind moved gently.",
        "The {name} said nothing.",
        "The moment seemed to last for ever.",
        "Nobody knew what would come next.",
        "Somewhere, a bell was ringing.",
    ),
    about="This is a story about {theme}.",
)
