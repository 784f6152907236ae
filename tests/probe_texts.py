"""Two hundred short texts for the perturbations, made from templates of our own."""

from itertools import islice, product

TEMPLATES = (
    "{man} told the police on {day} that {n} passengers had not arrived in {city}, because the train was late.",
    "The new museum in {city} is {n} metres high and cost {n} million euros; he likes its modern façade.",
    "All visitors must leave before {n} o'clock, said {woman}, who cannot open the old door without a key.",
    "According to {woman}, her brother sold three cars to {man} in {month} 2014 and bought a small boat.",
    "We don't know whether {man} will vote for the new law, but many people in {country} support it.",
    "“It is a great success,” said the coach after the match between {country} and {other}, {n} minutes later.",
    "The company from {country} increased its annual profit by {n} percent, and several workers may get more money.",
    "{woman} has always lived in {city}, although the organisation often asked her to move to {country}.",
)
WOMEN, MEN = (
    ("Anna", "Maria", "Elena", "Karen", "Julia"),
    ("Peter", "Martin", "Ivan", "Paul", "David"),
)
CITIES, COUNTRIES = (
    ("Riga", "Vienna", "Oslo", "Lisbon", "Prague"),
    ("Spain", "Latvia", "Japan", "Norway", "Egypt"),
)
DAYS, MONTHS = (
    ("Monday", "Friday", "Sunday", "Tuesday", "Thursday"),
    ("April", "June", "July", "October", "January"),
)
NUMBERS = (7, 12, 48, 130, 1250)


def make_texts():
    """The texts, always the same."""
    texts = [
        template.format(
            woman=WOMEN[(k + j) % 5],
            man=MEN[(k + 2 * j) % 5],
            city=CITIES[(k + j) % 5],
            country=COUNTRIES[(2 * k + j) % 5],
            other=COUNTRIES[(2 * k + j + 1) % 5],
            day=DAYS[k],
            month=MONTHS[j],
            n=NUMBERS[(k + 4 * j) % 5],
        )
        for template, k, j in product(TEMPLATES, range(5), range(5))
    ]
    return list(islice(texts, 200))
